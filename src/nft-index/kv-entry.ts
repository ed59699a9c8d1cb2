/**
 * The entry of one NFT in KV (design §4): an answer, with the ledger index at which it was true.
 *
 * The ledger index is the one of the reading from D1, not the one of the NFT's last change: it tells more (no change up to there is missing) and serves
 * for the same comparisons. A burned NFT keeps its entry, with no output: a deleted key could not be told from one that was never written.
 */
import * as v from 'valibot';
import { type Copy, Holder, MilestoneIndex, readCopy } from './kv-value.ts';

const Entry = v.strictObject({
  /** Names the import that the ledger grew from (head.generation): another ledger's entry says nothing about this one. */
  generation: v.string(),
  /** Where that ledger stood. */
  ledgerIndex: MilestoneIndex,
  outputId: Holder,
});
export type Entry = v.InferOutput<typeof Entry>;

export function entryKey(nftId: string): string {
  return `nft:${nftId}`;
}

export function writeEntry(entry: Entry): string {
  return JSON.stringify(entry satisfies Entry);
}

export function readEntry(text: string | null): Copy<Entry> {
  return readCopy(Entry, text);
}
