/**
 * Which of some blocks and outputs are known, so that nothing more is read for those that are not.
 */
import type { Database } from '../core/database.ts';
import { selectHead } from '../core/head.ts';
import { many, type Row, readBatch } from '../core/read-batch.ts';
import { findReferenced } from '../intake/known-blocks.ts';
import { statusesFromRow } from '../packs/pack-columns.ts';

const SELECT_OUTPUTS = 'SELECT id FROM output WHERE id IN (SELECT value FROM json_each(?1))';

/** Also of blocks in live packs that a milestone references, whose IDs are forgotten. */
const SELECT_LIVE = `
  SELECT p.key, p.statuses, p.sums, b.key AS at, b.value ->> 1 AS id
  FROM pack p CROSS JOIN json_each(p.blocks) b
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
  const select = <T>(sql: string, ids: readonly string[], parse: (row: Row) => T) =>
    many(ids.length === 0 ? [] : db.prepare(sql).bind(JSON.stringify(ids)), parse);
  const { unspent, stored, inIndex } = await readBatch(db, {
    // of a ledger that is damaged nothing is known
    head: selectHead(db),
    unspent: select(SELECT_OUTPUTS, outputs, (row) => row.text('id')),
    stored: select(SELECT_LIVE, blocks, unreferencedFromRow),
    inIndex: findReferenced(db, [...blocks, ...outputs]),
  });
  return new Set([...unspent, ...stored.flat(), ...inIndex.map(([id]) => id)]);
}

/** None where a milestone references the block: its pack says so. */
function unreferencedFromRow(row: Row): string[] {
  return statusesFromRow(row).milestoneAt(row.integer('at')) === 0 ? [row.text('id')] : [];
}
