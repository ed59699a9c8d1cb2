/**
 * Rows of `nft`: the unspent output of each NFT. They have no sum: the output that a row names must
 * be there, and be that of the NFT.
 */
import { LedgerDamaged } from '../core/checksum.ts';
import type { Row } from '../core/read-batch.ts';

/** SQL of the output that a row `n` of the table names. */
export const JOIN_HELD = 'LEFT JOIN output held ON held.id = n.output';

export const NFT_COLUMNS = 'n.id AS nft_id, n.output AS nft_output, held.chain AS nft_held';

/**
 * Reads the NFT and its output, null if it was burned; undefined if the statement found no row.
 * Throws a LedgerDamaged if the output is missing, or not that of the NFT.
 */
export function nftFromRow(row: Row): { nft: string; output: string | null } | undefined {
  const nft = row.textOrNull('nft_id');
  if (nft === null) return undefined;
  const output = row.textOrNull('nft_output');
  if (output !== null && row.textOrNull('nft_held') !== nft)
    throw new LedgerDamaged('rows of the table nft');
  return { nft, output };
}
