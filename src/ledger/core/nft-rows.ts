/**
 * Rows of `nft`, the unspent output of each NFT, and of `nft_change`, the NFTs that a milestone
 * changed (docs/storage.md#changes-of-nfts). They have no sum. The output that a row of `nft` names
 * must be there, and be that of the NFT. A milestone's list must have as many NFTs as
 * `milestone.nft_changes` says, which are in `nft` with that change or a later one: the scrub
 * compares milestones, and pruning before it deletes them.
 */
import { LedgerDamaged } from './checksum.ts';
import type { Row } from './read-batch.ts';
import { summedColumns } from './row-sum.ts';

/** SQL of the output that a row `n` of the table names. */
export const JOIN_HELD = 'LEFT JOIN output held ON held.id = n.output';

const columns = (burned: string) =>
  `n.id AS nft_id, n.output AS nft_output, held.chain AS nft_held, ${burned} AS nft_burned`;

/** `nft_burned`: whether a list of changes has the burn; to search one takes up to a millisecond. */
export const NFT_COLUMNS = columns(`n.output IS NULL AND EXISTS (
  SELECT 1 FROM nft_change b WHERE b.milestone = n.changed AND instr(b.nfts, n.id) > 0)`);

/** Columns of NFTs that a list named: it is not searched again for each of 10,000. */
export const LISTED_NFT_COLUMNS = columns('1');

/** SQL of several NFTs `n`, for WITH: who burned 15,000 at once made a list of a megabyte. */
export const withNfts = (nfts: string) => `
  n AS MATERIALIZED (${nfts}),
  burned AS MATERIALIZED (
    SELECT b.milestone, j.value AS id FROM nft_change b CROSS JOIN json_each(b.nfts) j
    WHERE b.milestone IN (SELECT changed FROM n WHERE output IS NULL) AND j.value IN (SELECT id FROM n))`;

/** Columns of NFTs of {@link withNfts}: no list is searched for each of them. */
export const NFTS_COLUMNS = columns('n.output IS NULL AND (n.changed, n.id) IN burned');

/** Up to ?2 NFTs behind the ID ?1. */
export const SELECT_NFTS = `
  WITH ${withNfts('SELECT * FROM nft WHERE id > ?1 ORDER BY id LIMIT ?2')}
  SELECT ${NFTS_COLUMNS} FROM n ${JOIN_HELD} ORDER BY n.id`;

/**
 * Reads the NFT and its output, null if it was burned; undefined if the statement found no row.
 * Throws a LedgerDamaged if the output is missing, or not that of the NFT, or the burn is on no list.
 */
export function nftFromRow(row: Row): { nft: string; output: string | null } | undefined {
  const nft = row.textOrNull('nft_id');
  if (nft === null) return undefined;
  const output = row.textOrNull('nft_output');
  if (output === null ? row.integer('nft_burned') !== 1 : row.textOrNull('nft_held') !== nft)
    throw new LedgerDamaged('rows of the table nft');
  return { nft, output };
}

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
