/**
 * `npm run cut-backup -- FROM TO`: turns a D1 export into a back-up that D1 can execute
 * (docs/operations.md#back-up).
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { cutStatement } from './cut-backup/cut-statements.ts';
import { runMain, UsageError } from './lib/process/command-line.ts';

const USAGE = `Usage: npm run cut-backup -- FROM TO

Copies the SQL file FROM, which wrangler d1 export wrote, to TO, and splits statements of more than
100 KB: D1 refuses those, but writes them for long rows.`;

async function* cutFile(path: string): AsyncGenerator<string> {
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: 0 })) {
    for (const statement of cutStatement(line)) yield `${statement}\n`;
  }
}

await runMain(USAGE, async (args) => {
  const { positionals } = parseArgs({ args, allowPositionals: true });
  const [from, to] = positionals;
  if (from === undefined || to === undefined || positionals.length > 2)
    throw new UsageError('two files must be given: FROM and TO');
  await pipeline(Readable.from(cutFile(from)), createWriteStream(to, { flags: 'wx' }));
  return 0;
});
