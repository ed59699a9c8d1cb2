/**
 * The version of the tables, and what is said of a database whose ledger has another one
 * (docs/upgrading.md).
 *
 * Each migration that changes what a reader makes of the rows raises the version. A ledger that has
 * another one is not read: its rows would be taken for something that they are not.
 */
import { type Database, runBatch } from './database.ts';

/** Stands in `head.schema`. Version 0.1 had none; its tables are called `v1_…` since. */
export const SCHEMA = 2;

/** What tables of version 0.1 are called by now. */
export const OLD_TABLES = [
  'head',
  'milestone',
  'block',
  'block_bytes',
  'output',
  'input',
  'waiting',
  'spent',
  'nft',
  'nft_change',
  'parameters',
  'receipt',
].map((name) => `v1_${name}`);

/**
 * The database holds a ledger that this version does not read. The message is for people: ASCII.
 */
export class LedgerUnreadable extends Error {
  override readonly name = 'LedgerUnreadable';
}

/** Throws a LedgerUnreadable unless the ledger's tables are ours. */
export function requireSchema(schema: unknown): void {
  if (schema === SCHEMA) return;
  throw new LedgerUnreadable(
    `the ledger in D1 has schema ${schema}, this version reads ${SCHEMA}: ` +
      'deploy the version that wrote it, or import a snapshot again',
  );
}

const FIND_OLD = `SELECT 1 FROM sqlite_master WHERE name = 'v1_head'`;

/** For whoever found no ledger: throws a LedgerUnreadable where there is one of version 0.1. */
export async function refuseOldLedger(db: Database): Promise<void> {
  const [found] = await runBatch(db, [db.prepare(FIND_OLD)]);
  if (found!.length === 0) return;
  const [old] = await runBatch(db, [db.prepare('SELECT ledger FROM v1_head')]);
  if (old!.length === 0) return;
  throw new LedgerUnreadable(
    `the ledger in D1 is one of version 0.1, at milestone ${old![0]!.ledger}: ` +
      'import a snapshot again (npm run import), then it is replaced',
  );
}
