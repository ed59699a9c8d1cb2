/**
 * How many NFTs changed up to a milestone, as its row has it. The difference between two milestones
 * is what `nft_change` must have for those between: so a row of it that is missing is an error and
 * no gap (docs/storage.md#changes-of-nfts).
 */
import { LedgerDamaged } from './checksum.ts';
import { rowSum } from './row-sum.ts';

export interface NftChangeCount {
  /** Changes are counted from the milestone after this one on. */
  since: number;
  /** Changes after `since` and up to the milestone; an NFT counts once in each milestone. */
  total: number;
}

/** The text of the column `nft_changes` in the row of milestone `index`. */
export function writeNftChangeCount(index: number, { since, total }: NftChangeCount): string {
  return JSON.stringify([since, total, rowSum([index, since, total])]);
}

/**
 * Returns undefined where nothing was counted. Throws a LedgerDamaged where the text is not what was
 * written.
 */
export function readNftChangeCount(
  index: number,
  text: string | null | undefined,
): NftChangeCount | undefined {
  if (text === null || text === undefined) return undefined;
  const [since, total] = (/^\[(\d+),(\d+),\d+\]$/.exec(text) ?? []).slice(1).map(Number);
  if (
    since === undefined ||
    total === undefined ||
    writeNftChangeCount(index, { since, total }) !== text
  )
    throw new LedgerDamaged('values of column nft_changes');
  return { since, total };
}
