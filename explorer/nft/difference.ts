/**
 * Whether the page of an NFT shows what the NFT's certificate proves: output, deposit, metadata, owner
 * and time, and not the ID of the output alone.
 */
import { parseBech32Address, toBech32 } from '../../src/stardust/bech32.ts';
import { equalBytes } from '../../src/stardust/encoding/bytes.ts';
import { StardustError } from '../../src/stardust/error.ts';
import { outputFromJson } from '../../src/stardust/json/rest-json.ts';
import { type Proved, provedValue } from '../../src/stardust/provenance/proved.ts';
import type { NftState } from '../../src/stardust/provenance/provenance.ts';
import { ownerAt } from '../../src/stardust/semantics/owner.ts';
import { type Address, addressKey } from '../../src/stardust/wire/address.ts';
import { outputBytes } from '../../src/stardust/wire/ids.ts';
import type { NftOutput } from '../../src/stardust/wire/output.ts';
import type { Nft } from '../node/shapes.ts';

/** What the page shows. */
export type ShownNft = Nft & { ledgerIndex: number };

/** What is shown and proved otherwise, to follow "The node shows"; undefined where nothing is. */
export function differenceOf(shown: ShownNft, proof: Proved<NftState>): string | undefined {
  const { held, since, head } = provedValue(proof);
  if (held === undefined) return `output ${shown.outputId}, and proves that the NFT was burned`;
  if (shown.outputId !== held.outputId)
    return `output ${shown.outputId}, and proves that output ${held.outputId} holds the NFT`;
  if (!isSameOutput(shown.output, held.output))
    return 'another deposit, owner, condition or metadata than its own certificate proves';
  const { milestoneIndexBooked, milestoneTimestampBooked } = shown.metadata;
  if (milestoneIndexBooked !== since.index || milestoneTimestampBooked !== since.timestamp)
    return `milestone ${milestoneIndexBooked}, and proves that the NFT came in milestone ${since.index}`;
  // the time of another milestone is not proved here
  const times = head.index === shown.ledgerIndex ? [head.timestamp] : timesOf(held.output);
  if (times.some((time) => isOwner(shown.owner, held.output, time))) return undefined;
  const prefix = parseBech32Address(shown.owner.address)?.prefix;
  const whom =
    times.length === 1 && prefix !== undefined
      ? `: ${toBech32(prefix, ownerAt(held.output, times[0]!).address)}`
      : '';
  return `another owner than the conditions of the output, which are proved, lead to${whom}`;
}

function isSameOutput(json: unknown, output: NftOutput): boolean {
  try {
    return equalBytes(outputBytes(outputFromJson(json)), outputBytes(output));
  } catch (error) {
    if (error instanceof StardustError) return false;
    throw error;
  }
}

/** One in each period in which the owner is another. */
const timesOf = ({ unlockConditions }: NftOutput) => [
  0,
  ...unlockConditions.flatMap((each) => ('unixTime' in each ? each.unixTime : [])),
];

function isOwner(shown: Nft['owner'], output: NftOutput, time: number): boolean {
  const { address, timelockedUntil, passesTo } = ownerAt(output, time);
  return (
    isSame(shown.address, address) &&
    shown.timelockedUntil === timelockedUntil &&
    shown.canUnlock === (timelockedUntil === undefined) &&
    shown.passesTo?.unixTime === passesTo?.unixTime &&
    (passesTo === undefined || isSame(shown.passesTo?.address ?? '', passesTo.address))
  );
}

function isSame(bech32: string, address: Address): boolean {
  const parsed = parseBech32Address(bech32);
  return parsed !== undefined && addressKey(parsed.address) === addressKey(address);
}
