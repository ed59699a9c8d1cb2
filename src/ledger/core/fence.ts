/**
 * Fences: statements that undo their whole batch if the ledger is not what its writer read. D1 has
 * no interactive transactions, so a writer says in the batch that it writes what must still be true
 * (docs/architecture.md#one-consistent-view).
 */
import { LedgerDamaged } from './checksum.ts';
import type { Database } from './database.ts';
import { type HeadMoment, isSameHead, SCHEMA, selectHeadAt } from './head.ts';
import { type Query, readBatch, readQuery } from './read-batch.ts';

/**
 * The ledger moved while somebody worked on it: another follower was first, or an import came.
 * Nothing was changed. Data that D1 should have and has not is a LedgerDamaged instead.
 */
export class LedgerMoved extends Error {
  override readonly name = 'LedgerMoved';
}

/** SQL that fails unless the condition is true: head takes no second row without a generation. */
export const failUnless = (condition: string): string =>
  `INSERT INTO head (one) SELECT 2 WHERE (${condition}) IS NOT TRUE`;

/** SQL: head has this generation (?1) and this ledger index (?2), and no migration raised its schema. */
export const SAME_LEDGER = `EXISTS (SELECT 1 FROM head WHERE generation = ?1 AND ledger = ?2 AND schema = ${SCHEMA})`;

/** SQL: the same, and dropped is ?3. */
export const SAME_HEAD = `${SAME_LEDGER} AND (SELECT dropped FROM head) = ?3`;

/**
 * Errors of the three kinds of fences: {@link failUnless}, moveHead (write-head.ts) and
 * replaceChecksums (pack-columns.ts) make a column NULL that must not be.
 */
const FENCE_FAILED = /NOT NULL constraint failed: (head\.|pack\.sums)/i;

const CONSTRAINT_FAILED = /(?:UNIQUE|NOT NULL|CHECK) constraint failed: (\w+)/i;

/**
 * Runs a batch that begins with a fence. Throws a LedgerMoved if a fence failed, and a
 * LedgerDamaged with the table's name if a row breaks another constraint: D1 has not what was read.
 */
export async function runFenced<T extends object>(
  db: Database,
  queries: { [Name in keyof T]: Query<T[Name]> },
): Promise<T> {
  try {
    return await readBatch(db, queries);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (FENCE_FAILED.test(error.message))
      throw new LedgerMoved('another writer was first', { cause: error });
    const failed = CONSTRAINT_FAILED.exec(error.message);
    if (failed === null) throw error;
    throw new LedgerDamaged(`rows of the table ${failed[1]}`);
  }
}

/**
 * Runs work that reads what an earlier batch named: blocks, contents, rows of a tree. If it fails
 * and the ledger has moved since that batch, throws a LedgerMoved: it may have failed only because
 * of that. The work itself throws a LedgerDamaged for each row that is not there.
 *
 * @param head of the earlier batch
 * @param milestone index of the milestone whose state the work is about: pruning may take it away
 */
export async function unlessMoved<T>(
  db: Database,
  head: HeadMoment,
  milestone: number,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof LedgerMoved) throw error;
    const now = await readQuery(db, selectHeadAt(db, milestone));
    if (now?.milestone !== undefined && isSameHead(now.head, head)) throw error;
    throw new LedgerMoved('the ledger moved while it was read', { cause: error });
  }
}

/** Retries once: a milestone may take a block away before its bytes are read, rarely twice. */
export async function onceMore<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof LedgerMoved)) throw error;
    return work();
  }
}
