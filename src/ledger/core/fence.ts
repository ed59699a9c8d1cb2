/**
 * Fences: statements that undo the whole batch in which they stand, when the ledger is not what its
 * writer took it for.
 *
 * D1 has no interactive transactions. So a writer that decided by what it read says, in the batch
 * that it writes, what must still be true (docs/architecture.md#one-consistent-view).
 */
import type { Database } from './database.ts';
import { type Query, readBatch } from './read-batch.ts';

/**
 * A write failed because the ledger had moved meanwhile: another follower was first, or an import
 * came. Nothing was changed by it.
 */
export class LedgerMoved extends Error {
  override readonly name = 'LedgerMoved';
}

/**
 * SQL that fails unless the condition is true: a second row in head, and one without a generation,
 * is against its definition.
 */
export function failUnless(condition: string): string {
  return `INSERT INTO head (one) SELECT 2 WHERE (${condition}) IS NOT TRUE`;
}

/** That head is of this generation (?1), at this ledger index (?2), and its dropped is ?3. */
export const SAME_HEAD =
  'EXISTS (SELECT 1 FROM head WHERE generation = ?1 AND ledger = ?2 AND dropped = ?3)';

/**
 * Runs a batch that may fail for a fence, or for a row that somebody else took. Throws LedgerMoved
 * then.
 */
export async function runFenced<T extends object>(
  db: Database,
  queries: { [Name in keyof T]: Query<T[Name]> },
): Promise<T> {
  try {
    return await readBatch(db, queries);
  } catch (error) {
    if (error instanceof Error && /constraint failed/i.test(error.message))
      throw new LedgerMoved(error.message);
    throw error;
  }
}
