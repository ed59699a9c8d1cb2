/**
 * The outputs of recorded networks at each of their ledger indexes, and what inx-indexer answered
 * there.
 */
import { toHexDigits } from '../../../src/stardust/encoding/bytes.ts';
import { decode } from '../../../src/stardust/encoding/codec.ts';
import { type NftOutput, OutputType, output } from '../../../src/stardust/wire/output.ts';
import { type RecordedName, recordedNetwork } from '../network/recorded-network.ts';
import { readLines } from '../vectors.ts';
import type { PlainOutput } from './plain-list.ts';

export interface RecordedList {
  path: string;
  status: number;
  response: unknown;
}

interface DatedOutput extends PlainOutput {
  bookedIndex: number;
  spentIndex: number;
}

export interface PlainNft extends PlainOutput {
  output: NftOutput;
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

/** By ledger index: the unspent outputs of a recorded network. */
export function recordedOutputs(name: RecordedName): (index: number) => PlainOutput[] {
  const all = Array.from(
    recordedNetwork(name).outputs.values(),
    (each): DatedOutput => ({
      outputId: toHexDigits(each.outputId),
      createdTime: each.bookedTimestamp,
      output: decode(output, each.bytes),
      bookedIndex: each.bookedIndex,
      spentIndex: each.spent?.index ?? Number.POSITIVE_INFINITY,
    }),
  );
  return (index) =>
    all.filter(({ bookedIndex, spentIndex }) => bookedIndex <= index && index < spentIndex);
}

/** By ledger index: the unspent NFTs of network-n. */
export function recordedNfts(): (index: number) => PlainNft[] {
  const outputsAt = recordedOutputs('network-n');
  return (index) => outputsAt(index).filter(isNft);
}

function isNft(each: PlainOutput): each is PlainNft {
  return each.output.type === OutputType.Nft;
}
