/**
 * Whether the page of an NFT shows what the NFT's certificate proves: output, deposit, metadata, owner
 * and time, and not the ID of the output alone.
 */
import { readName } from '../../client/words/amounts.ts';
import { parseBech32Address, toBech32 } from '../../src/stardust/bech32.ts';
import { equalBytes } from '../../src/stardust/encoding/bytes.ts';
import { StardustError } from '../../src/stardust/error.ts';
import { outputFromJson } from '../../src/stardust/json/rest-json.ts';
import type { FinalRecord } from '../../src/stardust/provenance/final.ts';
import { type Proved, provedValue } from '../../src/stardust/provenance/proved.ts';
import type { NftState } from '../../src/stardust/provenance/provenance.ts';
import { ownerAt } from '../../src/stardust/semantics/owner.ts';
import type { Address } from '../../src/stardust/wire/address.ts';
import { FeatureType, findFeature } from '../../src/stardust/wire/feature.ts';
import { networkId as networkIdOf, outputBytes } from '../../src/stardust/wire/ids.ts';
import { type NftOutput, OutputType } from '../../src/stardust/wire/output.ts';
import type { LedgerOutputJson } from '../node/outputs.ts';
import type { Nft, NftChangeJson } from '../node/shapes.ts';
import { findNetwork } from '../verify/find-network.ts';

/** What the page shows. */
export type ShownNft = Nft & { ledgerIndex: number };

/** What is shown and proved otherwise, to follow "The node shows"; undefined where nothing is. */
export function differenceOf(shown: ShownNft, proof: Proved<NftState>): string | undefined {
  const { held, since, head, networkId } = provedValue(proof);
  if (held === undefined) return `output ${shown.outputId}, and proves that the NFT was burned`;
  if (shown.outputId !== held.outputId)
    return `output ${shown.outputId}, and proves that output ${held.outputId} holds the NFT`;
  const { milestoneIndexBooked, milestoneTimestampBooked } = shown.metadata;
  if (milestoneIndexBooked !== since.index || milestoneTimestampBooked !== since.timestamp)
    return milestoneIndexBooked === since.index
      ? `another time of milestone ${since.index} than its own certificate proves`
      : `milestone ${milestoneIndexBooked}, and proves that the NFT came in milestone ${since.index}`;
  // the time of another milestone is not proved here
  const times = head.index === shown.ledgerIndex ? [head.timestamp] : timesOf(held.output);
  return differenceOfOutput(shown, held.output, times, networkId, 'its own certificate proves');
}

/** As {@link differenceOf}, of an NFT or an output of a network that has ended. */
export function differenceOfRecord(
  shown: ShownNft | LedgerOutputJson,
  record: FinalRecord,
): string | undefined {
  const isSpent = shown.metadata.isSpent;
  if (!record.present) return isSpent ? undefined : 'what the last ledger does not have';
  if (isSpent) return 'as spent what the last ledger has';
  if (record.tree === 'nfts') return undefined;
  const { output, id } = record;
  if (!('nftId' in shown))
    return equalBytes(outputBytes(shown.output), outputBytes(output))
      ? undefined
      : 'another output than the last ledger has';
  if (shown.outputId !== id || output.type !== OutputType.Nft)
    return `output ${shown.outputId}, and in the last ledger output ${id} holds the NFT`;
  const network = networkIdOf(record.networkName);
  return differenceOfOutput(shown, output, timesOf(output), network, 'the last ledger has');
}

/** @param times at one of which the owner must be right */
function differenceOfOutput(
  shown: ShownNft,
  output: NftOutput,
  times: readonly number[],
  network: bigint,
  proved: string,
): string | undefined {
  const parts = otherParts(shown.output, output);
  if (parts.length > 0) {
    const name = parts.includes('metadata') && readName(output)?.replaceAll(/\p{C}/gu, '');
    return `another ${LIST.format(parts)} than ${proved}${name ? `: its name is “${name}”` : ''}`;
  }
  if (times.some((time) => isOwner(shown.owner, output, time, network))) return undefined;
  const prefix = findNetwork(network)?.bech32Hrp ?? parseBech32Address(shown.owner.address)?.prefix;
  const whom =
    times.length === 1 && prefix !== undefined
      ? `: ${toBech32(prefix, ownerAt(output, times[0]!).address)}`
      : '';
  return `another owner than the conditions of the output, which are proved, lead to${whom}`;
}

/** Whether all of it is proved: the owner at the time of the certificate's `head`, too. */
export const isTrue = (shown: ShownNft, proof: Proved<NftState>) =>
  differenceOf({ ...shown, ledgerIndex: provedValue(proof).head.index }, proof) === undefined;

/** As {@link differenceOf}, of a change that the node tells. */
export function differenceOfChange(
  { outputId, milestoneIndex, milestoneTimestamp, transactionId, kind, owner }: NftChangeJson,
  proof: Proved<NftState>,
): string | undefined {
  const { held, since, ...proved } = provedValue(proof);
  if ((held?.outputId ?? null) !== outputId || since.index !== milestoneIndex)
    return 'another output or milestone';
  if (since.timestamp !== milestoneTimestamp || proved.transactionId !== transactionId)
    return 'another time or transaction';
  if ((kind === 'burned') !== (held === undefined)) return 'another kind of change';
  if (held === undefined) return owner === null ? undefined : 'another owner';
  if ((kind === 'minted') !== held.output.nftId.every((byte) => byte === 0))
    return 'another kind of change';
  return owner !== null && isOwner(owner, held.output, since.timestamp, proved.networkId)
    ? undefined
    : 'another owner';
}

const LIST = new Intl.ListFormat('en-GB');

/** Of an output, by the words for them. */
const PARTS: Readonly<Record<string, (output: NftOutput) => unknown>> = {
  issuer: ({ immutableFeatures: all }) => findFeature(all, FeatureType.Issuer),
  metadata: ({ immutableFeatures: all }) => findFeature(all, FeatureType.Metadata),
  'changeable metadata': ({ features }) => findFeature(features, FeatureType.Metadata),
  sender: ({ features }) => findFeature(features, FeatureType.Sender),
  tag: ({ features }) => findFeature(features, FeatureType.Tag),
  deposit: ({ amount }) => amount,
  'native tokens': ({ nativeTokens }) => nativeTokens,
  'unlock condition': ({ unlockConditions }) => unlockConditions,
};

/** What differs; nothing where the outputs are the same. */
function otherParts(json: unknown, held: NftOutput): readonly string[] {
  try {
    const shown = outputFromJson(json);
    if (shown.type !== OutputType.Nft) return ['output'];
    if (equalBytes(outputBytes(shown), outputBytes(held))) return [];
    const parts = Object.keys(PARTS).filter(
      (name) => textOf(PARTS[name]!(shown)) !== textOf(PARTS[name]!(held)),
    );
    return parts.length === 0 ? ['output'] : parts;
  } catch (error) {
    if (error instanceof StardustError) return ['output'];
    throw error;
  }
}

const textOf = (value: unknown) =>
  JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each));

/** One in each period in which the owner is another. */
const timesOf = ({ unlockConditions }: NftOutput) => [
  0,
  ...unlockConditions.flatMap((each) => ('unixTime' in each ? each.unixTime : [])),
];

function isOwner(shown: Nft['owner'], output: NftOutput, time: number, network: bigint): boolean {
  const { address, timelockedUntil, passesTo } = ownerAt(output, time);
  return (
    isSame(shown.address, address, network) &&
    shown.timelockedUntil === timelockedUntil &&
    shown.canUnlock === (timelockedUntil === undefined) &&
    shown.passesTo?.unixTime === passesTo?.unixTime &&
    (passesTo === undefined || isSame(shown.passesTo?.address ?? '', passesTo.address, network))
  );
}

/** Of a network that the page knows, its beginning counts too. */
function isSame(text: string, address: Address, network: bigint): boolean {
  const prefix = findNetwork(network)?.bech32Hrp ?? parseBech32Address(text)?.prefix ?? '';
  return text === toBech32(prefix, address);
}
