/**
 * What of a node answers about NFTs and outputs, over a database alone.
 */
import type { Database } from '../../../src/ledger/core/database.ts';
import { readIndexedKinds } from '../../../src/ledger/output-list/indexed-kinds.ts';
import type { EdgeNode } from '../../../src/node/edge-node.ts';

/** What the node asks the database, and no more than that. */
export function nodeOver(db: Database): Pick<EdgeNode, 'session' | 'readIndexedKinds'> {
  return {
    session: () => db,
    readIndexedKinds: () => readIndexedKinds(db),
  };
}

/** The database, but the last statement of each batch selects this one row. */
export function selectingLast(db: Database, row: Record<string, unknown>): Database {
  return {
    prepare: (sql) => db.prepare(sql),
    async batch<T>(statements: D1PreparedStatement[]) {
      const results = await db.batch<T>(statements);
      return results.with(-1, { ...results.at(-1)!, results: [row as T] });
    },
  };
}
