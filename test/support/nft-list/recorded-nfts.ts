/**
 * The outputs of recorded networks at each of their ledger indexes, and what inx-indexer answered
 * there.
 */
import { type NftOutput, OutputType } from '../../../src/stardust/wire/output.ts';
import { isUnspentAt } from '../network/network-model.ts';
import { type RecordedName, recordedNetwork } from '../network/recorded-network.ts';
import { readLines } from '../vectors.ts';
import { type PlainOutput, plainOf } from './plain-list.ts';

export interface RecordedList {
  path: string;
  status: number;
  response: unknown;
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
  const all = [...recordedNetwork(name).outputs.values()].map(plainOf);
  return (index) => all.filter(({ held }) => isUnspentAt(held, index));
}

/** By ledger index: the unspent NFTs of network-n. */
export function recordedNfts(): (index: number) => PlainNft[] {
  const outputsAt = recordedOutputs('network-n');
  return (index) => outputsAt(index).filter(isNft);
}

function isNft(each: PlainOutput): each is PlainNft {
  return each.output.type === OutputType.Nft;
}
