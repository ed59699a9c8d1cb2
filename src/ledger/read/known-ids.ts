/**
 * Which of some blocks and outputs are known, so that nothing more is read for those that are not.
 */
import type { Database } from '../core/database.ts';
import { many, readBatch } from '../core/read-batch.ts';
import { findReferenced } from '../intake/known-blocks.ts';

const SELECT_OUTPUTS = 'SELECT id FROM output WHERE id IN (SELECT value FROM json_each(?1))';

const SELECT_UNREFERENCED = `
  SELECT b.value ->> 1 AS id FROM pack p CROSS JOIN json_each(p.blocks) b
  WHERE p.live = 1 AND p.staged IS NULL AND b.value ->> 1 IN (SELECT value FROM json_each(?1))`;

export interface IdsToFind {
  /** Hex. */
  blocks: readonly string[];
  outputs: readonly string[];
}

/**
 * Those of these IDs that the ledger or an unreferenced block has, spent outputs as long as their
 * milestone's IDs are kept. One batch, and one pass over the unreferenced blocks.
 */
export async function readKnownIds(
  db: Database,
  { blocks, outputs }: IdsToFind,
): Promise<ReadonlySet<string>> {
  const select = (sql: string, ids: readonly string[]) =>
    many(ids.length === 0 ? [] : db.prepare(sql).bind(JSON.stringify(ids)), (row) =>
      row.text('id'),
    );
  const { unspent, stored, inIndex } = await readBatch(db, {
    unspent: select(SELECT_OUTPUTS, outputs),
    stored: select(SELECT_UNREFERENCED, blocks),
    inIndex: findReferenced(db, [...blocks, ...outputs]),
  });
  return new Set([...unspent, ...stored, ...inIndex.map(([id]) => id)]);
}
