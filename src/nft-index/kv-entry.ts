/**
 * The entry of one NFT in KV: the output that holds it, and the ledger index at which that was true
 * (docs/storage.md#kv-keys).
 *
 * The ledger index is that of the reading from D1, not that of the NFT's last change. It says more:
 * no change up to there is missing. The entry of a burned NFT has no output, and expires long after
 * every copy has it (`TOMBSTONE_TTL_S` in timing-assumptions.ts). It is never deleted: copies from
 * before the burn could outlive it.
 */
import * as v from 'valibot';
import { type KvRead, LedgerIndex, OutputIdOrBurned, readKvValue } from './kv-value.ts';

const Entry = v.strictObject({
  /** Names the ledger's import (`head.generation`). An entry of another ledger says nothing. */
  generation: v.string(),
  ledgerIndex: LedgerIndex,
  outputId: OutputIdOrBurned,
});
export type Entry = v.InferOutput<typeof Entry>;

/** @param nftId 64 lower-case hex digits */
export function entryKey(nftId: string): string {
  return `nft:${nftId}`;
}

export function writeEntry(entry: Entry): string {
  return JSON.stringify(entry satisfies Entry);
}

export function readEntry(text: string | null): KvRead<Entry> {
  return readKvValue(Entry, text);
}
