/**
 * Turns a D1 export into a back-up that D1 can execute, and whose ledger is an import of its own
 * (docs/operations.md#restore).
 */
import {
  createReadStream,
  createWriteStream,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { PROJECT } from '../lib/project.ts';
import { cutStatement } from './cut-statements.ts';
import { renewGeneration } from './renew-generation.ts';

/** Returns the name in the beginning of a statement that makes an index, if it is one. */
const indexNameIn = (line: string) => /^CREATE (?:UNIQUE )?INDEX (\w+)/.exec(line)?.[1] ?? [];

/** The migration that an export of any release has. */
const FIRST = '0001_ledger.sql';

/** The statement that notes one. */
const NOTED = /^INSERT INTO "d1_migrations" .*'(\w+\.sql)'/;

/**
 * Throws an Error where it is no export of a whole ledger, or the new file exists.
 *
 * @param path of a file that `wrangler d1 export` wrote
 * @param to path of the new file
 * @param migrations folder of all that the export may have
 */
export async function cutExport(
  path: string,
  to: string,
  migrations = join(PROJECT, 'migrations'),
): Promise<void> {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new Error(`${path}: there is no such file`);
  if (existsSync(to)) throw new Error(`${to} exists: name another file`);
  const partial = `${to}.${crypto.randomUUID()}.partial`;
  try {
    await pipeline(
      Readable.from(cutFile(path, migrations)),
      createWriteStream(partial, { flush: true }),
    );
    renameSync(partial, to);
  } finally {
    rmSync(partial, { force: true });
  }
}

async function* cutFile(path: string, migrations: string): AsyncGenerator<string> {
  const generation = crypto.randomUUID();
  // they stand behind all rows
  const missing = new Set(indexesOf(FIRST, migrations));
  let heads = 0;
  let last = '';
  for await (const line of linesOf(path)) {
    last = line;
    const migration = NOTED.exec(line)?.[1];
    for (const name of migration ? indexesOf(migration, migrations) : []) missing.add(name);
    for (const name of [indexNameIn(line)].flat()) missing.delete(name);
    const renewed = renewGeneration(line, generation);
    if (renewed !== undefined) heads++;
    for (const statement of cutStatement(renewed ?? line)) yield `${statement}\n`;
  }
  if (heads !== 1)
    throw new Error(`${path} has ${heads} rows of head: it is no export of a ledger`);
  if (missing.size > 0 || !last.endsWith(';'))
    throw new Error(`${path} is no whole export: it ends early`);
}

/** Names of the indexes that a migration makes; of a newer release's they are not known. */
function indexesOf(migration: string, folder: string): string[] {
  const path = join(folder, migration);
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').flatMap(indexNameIn) : [];
}

/** Ends lines at line feeds alone, where node:readline also does at characters that texts have. */
async function* linesOf(path: string): AsyncGenerator<string> {
  let parts: string[] = [];
  for await (const chunk of createReadStream(path, 'utf8')) {
    const [end, ...starts] = String(chunk).split('\n');
    parts.push(end!);
    for (const start of starts) {
      yield parts.join('');
      parts = [start];
    }
  }
  const last = parts.join('');
  if (last !== '') yield last;
}
