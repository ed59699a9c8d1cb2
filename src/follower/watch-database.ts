/**
 * The database as the follower writes it: rows are counted, a write that fails for want of room is
 * noted, and requests come between two calls.
 */
import type { Database } from '../ledger/core/database.ts';
import { isDatabaseFull } from '../ledger/core/database-size.ts';
import { measureDatabase } from '../ledger/core/measure-database.ts';
import { takeTurns } from '../turns.ts';
import type { FollowerMemory } from './follower-context.ts';

export function watchDatabase(db: Database, memory: FollowerMemory): Database {
  const endStep = takeTurns();
  async function waitFor<T>(run: Promise<T>): Promise<T> {
    try {
      return await run;
    } catch (error) {
      if (isDatabaseFull(error)) memory.upkeep.isDatabaseFull = true;
      throw error;
    } finally {
      await endStep();
    }
  }
  const count = ({ rows_written }: D1Meta) => {
    memory.counts.rowsWritten += rows_written;
  };
  return measureDatabase(db, count, waitFor);
}
