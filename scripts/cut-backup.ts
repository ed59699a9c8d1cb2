/**
 * `npm run cut-backup -- FROM TO`: turns a D1 export into one that D1 can execute, and whose ledger
 * is an import of its own (docs/operations.md#restore).
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { cutStatement } from './cut-backup/cut-statements.ts';
import { renewGeneration } from './cut-backup/renew-generation.ts';
import { runMain, UsageError } from './lib/process/command-line.ts';

const USAGE = `Usage: npm run cut-backup -- FROM TO

Copies the SQL file FROM, which wrangler d1 export wrote, to TO, and splits statements of more than
100 KB: D1 refuses those, but writes them for long rows. The ledger in TO is an import of its own:
cut FROM again for each restore.`;

async function* cutFile(path: string): AsyncGenerator<string> {
  const generation = crypto.randomUUID();
  let heads = 0;
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: 0 })) {
    const renewed = renewGeneration(line, generation);
    if (renewed !== undefined) heads++;
    for (const statement of cutStatement(renewed ?? line)) yield `${statement}\n`;
  }
  if (heads !== 1)
    throw new Error(`${path} has ${heads} rows of head: it is no export of a ledger`);
}

await runMain(USAGE, async (args) => {
  const { positionals } = parseArgs({ args, allowPositionals: true });
  const [from, to] = positionals;
  if (from === undefined || to === undefined || positionals.length > 2)
    throw new UsageError('two files must be given: FROM and TO');
  await pipeline(Readable.from(cutFile(from)), createWriteStream(to, { flags: 'wx' }));
  return 0;
});
