/**
 * What the import asks of wrangler, done to a database and a store in memory as Cloudflare would do
 * it: a file whole or not at all, within D1's limits.
 */
import { readFileSync } from 'node:fs';
import { migrate } from '../../../scripts/lib/wrangler/local-database.ts';
import type { RunWrangler } from '../../../scripts/lib/wrangler/run-wrangler.ts';
import { SqliteDatabase } from '../../../scripts/lib/wrangler/sqlite-database.ts';

/** Bytes of a statement that D1 accepts: https://developers.cloudflare.com/d1/platform/limits/ */
const MAX_STATEMENT = 100_000;
/** Pairs that `wrangler kv bulk put` accepts at once. */
const MAX_PAIRS = 10_000;

export class FakeWrangler {
  readonly database: SqliteDatabase;
  readonly index = new Map<string, string>();
  /** The arguments of each call, without paths. */
  readonly calls: string[] = [];
  /** Fails at this call, before or after it is done. */
  failAt: { call: number; isAfter: boolean } | undefined;

  /** @param path file of the deployed database */
  constructor(path = ':memory:') {
    this.database = new SqliteDatabase(path);
  }

  readonly run: RunWrangler = async (args) => {
    const { call, isAfter } = this.failAt ?? { call: -1, isAfter: false };
    const isDue = this.calls.length === call;
    this.calls.push(args.filter((arg) => !arg.startsWith('/')).join(' '));
    if (isDue && !isAfter) throw new Error('no connection');
    const output = await executeOn(this.database, this.index, args);
    if (isDue) throw new Error('no connection');
    return output;
  };
}

/** Does what the arguments ask for to a database, or to the entries of a namespace. */
export async function executeOn(
  database: SqliteDatabase,
  entries: Map<string, string>,
  args: readonly string[],
): Promise<string> {
  const [group, verb, third, fourth] = args;
  const after = (flag: string) => args[args.indexOf(flag) + 1]!;
  if (!args.includes('--remote')) throw new Error(`not for the deployed stores: ${args.join(' ')}`);
  if (group === 'd1' && verb === 'migrations' && third === 'apply') {
    await migrate(database);
  } else if (group === 'd1' && verb === 'execute' && args.includes('--file')) {
    executeFile(database, readFileSync(after('--file'), 'utf8'));
  } else if (group === 'd1' && verb === 'execute' && args.includes('--json')) {
    return JSON.stringify(await query(database, after('--command')));
  } else if (group === 'kv' && verb === 'bulk' && third === 'put') {
    put(entries, JSON.parse(readFileSync(fourth!, 'utf8')) as { key: string; value: string }[]);
  } else {
    throw new Error(`unknown: ${args.join(' ')}`);
  }
  return '';
}

function executeFile(database: SqliteDatabase, sql: string): void {
  for (const statement of sql.split(';\n')) {
    if (Buffer.byteLength(statement) > MAX_STATEMENT) throw new Error('statement too long');
  }
  database.transact(() => database.exec(sql));
}

function query(database: SqliteDatabase, command: string): Promise<{ results: unknown[] }[]> {
  return database.batch(command.split(';').map((sql) => database.prepare(sql)));
}

function put(entries: Map<string, string>, pairs: readonly { key: string; value: string }[]): void {
  if (pairs.length > MAX_PAIRS) throw new Error('too many pairs');
  for (const { key, value } of pairs) entries.set(key, value);
}
