/**
 * The database as the follower writes it: rows are counted, and a write that fails for want of room
 * is noted.
 */
import type { Database } from '../ledger/core/database.ts';
import { isDatabaseFull } from '../ledger/core/database-size.ts';
import { measureDatabase } from '../ledger/core/measure-database.ts';
import type { FollowerMemory } from './follower-context.ts';

export function watchDatabase(db: Database, memory: FollowerMemory): Database {
  return measureDatabase(
    db,
    ({ rows_written }) => {
      memory.counts.rowsWritten += rows_written;
    },
    (error) => {
      if (isDatabaseFull(error)) memory.upkeep.isDatabaseFull = true;
    },
  );
}
