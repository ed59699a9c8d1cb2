/**
 * D1 with a count of the rows that it says were written, which is what it bills by.
 */
import { measureDatabase } from '../../../src/ledger/core/wrap-database.ts';

interface Counts {
  rowsWritten: number;
  rowsRead: number;
}

/** The database as the follower and the publisher use it, and what they have cost so far. */
export function countedDatabase(db: D1Database): { db: D1Database; counts: Counts } {
  const counts: Counts = { rowsWritten: 0, rowsRead: 0 };
  const counted = measureDatabase(db, (cost) => {
    counts.rowsWritten += cost.rows_written;
    counts.rowsRead += cost.rows_read;
  });
  // nothing that is tested asks it for a session
  return { db: counted as D1Database, counts };
}
