/**
 * The NFTs of a recorded network at each of its ledger indexes, and what inx-indexer answered
 * there.
 */
import { Reader, toHexDigits } from '../../../src/stardust/encoding/bytes.ts';
import { decode } from '../../../src/stardust/encoding/codec.ts';
import { OutputType, output } from '../../../src/stardust/wire/output.ts';
import { recordedNetwork } from '../network/recorded-network.ts';
import { readLines } from '../vectors.ts';
import type { PlainNft } from './plain-list.ts';

export interface RecordedList {
  path: string;
  status: number;
  response: unknown;
}

interface DatedNft extends PlainNft {
  bookedIndex: number;
  spentIndex: number;
}

/** The last ledger index of network-n, at which its lists were asked for. */
export const LAST_INDEX = 125;

export function recordedLists(): RecordedList[] {
  return readLines('network-n/nft_queries.jsonl') as RecordedList[];
}

/** Answers to random queries, the most of them odd. */
export function oddLists(): RecordedList[] {
  return readLines('network-n/nft_queries_odd.jsonl') as RecordedList[];
}

/** By ledger index: the unspent NFTs of network-n. */
export function recordedNfts(): (index: number) => PlainNft[] {
  const all: DatedNft[] = [];
  for (const each of recordedNetwork('network-n').outputs.values()) {
    const value = decode(output, new Reader(each.bytes));
    if (value.type !== OutputType.Nft) continue;
    all.push({
      outputId: toHexDigits(each.outputId),
      createdTime: each.bookedTimestamp,
      output: value,
      bookedIndex: each.bookedIndex,
      spentIndex: each.spent?.index ?? Number.POSITIVE_INFINITY,
    });
  }
  return (index) =>
    all.filter(({ bookedIndex, spentIndex }) => bookedIndex <= index && index < spentIndex);
}
