/**
 * Compares changes of NFTs with their counts (docs/storage.md#changes-of-nfts): a milestone's list
 * must have as many as `milestone.nft_changes` says, of NFTs that are in `nft` with that change or
 * a later one. The scrub compares milestones, and pruning before it deletes them.
 */
import { LedgerDamaged } from '../core/checksum.ts';
import type { Database } from '../core/database.ts';
import { runFenced } from '../core/fence.ts';
import { readHead } from '../core/head.ts';
import { type Row, write } from '../core/read-batch.ts';
import { summedColumns } from '../core/row-sum.ts';
import { moveHead } from '../core/write-head.ts';

/**
 * SQL of the milestones `m` with their counts; NULL for the first one, whose changes are pruned.
 *
 * @param condition which of them are selected
 */
export function selectCounted(condition: string): string {
  return `
    SELECT ${summedColumns('milestone', 'm')}, m.nft_changes - (
        SELECT p.nft_changes FROM milestone p WHERE p.idx = m.idx - 1) AS counted,
      (SELECT count(*)
        FROM nft_change c CROSS JOIN json_each(iif(json_valid(c.nfts), c.nfts, '[]')) j
          JOIN nft n ON n.id = j.value AND n.changed >= m.idx
        WHERE c.milestone = m.idx) AS listed
    FROM milestone m WHERE ${condition}`;
}

/** The milestone's index. Throws a LedgerDamaged unless its list has what was counted. */
export function countedFromRow(row: Row): number {
  row.requireSum('milestone');
  const counted = row.integerOrNull('counted');
  if (counted !== null && counted !== row.integer('listed'))
    throw new LedgerDamaged('rows of the tables nft_change and nft');
  return row.integer('idx');
}

/**
 * Notes the damage in the head, so that all readers throw it from then on. Throws a LedgerMoved if
 * the ledger changed meanwhile.
 */
export async function noteDamage(db: Database, { what }: LedgerDamaged): Promise<void> {
  const head = await readHead(db);
  if (head === undefined) return;
  const integrity = { ...head.integrity, damaged: what };
  await runFenced(db, { writes: write([moveHead(db, head, { integrity })]) });
}
