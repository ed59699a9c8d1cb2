/**
 * Milestone payloads that are none. A block around one that no coordinator signed needs no proof of
 * work, and HORNET stores it and builds on it like on any other block.
 */
import { fromHex, toHex } from '../../../src/stardust/encoding/bytes.ts';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import type { Milestone, ReceiptOption } from '../../../src/stardust/wire/milestone.ts';
import {
  type ProtocolParameters,
  protocolParameters,
} from '../../../src/stardust/wire/parameters.ts';
import { readMilestone } from '../../support/network/blocks.ts';
import {
  extraSignature,
  fewerSignatures,
  forgedSignature,
  resign,
} from '../../support/network/milestones.ts';
import {
  lastIndex,
  type NetworkMilestone,
  parametersAt,
} from '../../support/network/network-model.ts';
import type { Random } from '../../support/network/random.ts';
import type { SyntheticNetwork } from '../../support/network/synthetic-network.ts';
import type { KeyPair } from '../../support/payloads/keys.ts';

/** The same milestone ID as the real one, as signatures are no part of it. */
export function forgedTwin({ payload }: NetworkMilestone, random: Random): Uint8Array {
  switch (random.below(3)) {
    case 0:
      return forgedSignature(payload);
    case 1:
      return fewerSignatures(payload, 1);
    default:
      return extraSignature(payload, random.bytes(32));
  }
}

/** A made-up milestone with this index, after the last real one, with these parents. */
export function forgedMilestone(
  last: NetworkMilestone,
  { index, parents }: { index: number; parents: readonly string[] },
  strangers: readonly KeyPair[],
  random: Random,
): Uint8Array {
  const real = readMilestone(last.payload);
  return resign(
    last.payload,
    {
      index,
      timestamp: real.timestamp + random.between(1, 1000),
      parents: [...parents].sort().map(fromHex),
      previousMilestoneId: random.chance(0.7) ? fromHex(last.id) : random.bytes(32),
      inclusionMerkleRoot: random.bytes(32),
      appliedMerkleRoot: random.chance(0.3) ? real.appliedMerkleRoot : random.bytes(32),
    },
    strangers,
  );
}

/** What a coordinator may do wrong, though it signs rightly (docs/protocol.md, C-M, E.3, E.5, G). */
const BREACHES = {
  'its time is not after the one before': (network) => {
    const { timestamp } = readMilestone(network.milestones.at(-1)!.payload);
    return withRoots(network, { timestamp, parents: [network.milestoneBlock!] });
  },
  'another milestone is before it': ({ milestones, random }) => ({
    previousMilestoneId: fromHex(milestones.at(-2)?.id ?? toHex(random.bytes(32))),
  }),
  'it does not reach the one before': (network) => {
    const { parents } = readMilestone(network.milestones.at(-1)!.payload);
    return withRoots(network, { parents: parents.map(toHex) });
  },
  'the inclusion root': ({ random }) => ({ inclusionMerkleRoot: random.bytes(32) }),
  'the applied root': ({ random }) => ({ appliedMerkleRoot: random.bytes(32) }),
  'a later index': (network) => ({ index: network.nextIndex + 1 }),
  'too much is left in the treasury': (network) => ({ options: [receipt(network, 1n)] }),
  'two receipts': (network) => ({ options: [receipt(network), receipt(network)] }),
  'two announcements': (network) => {
    const { parameters } = parametersAt(network, lastIndex(network));
    return { options: [5, 6].map((after) => announcement(parameters, network.nextIndex + after)) };
  },
  'parameters for a milestone that has some': (network) => {
    const { parameters, pending } = parametersAt(network, lastIndex(network));
    return { options: [announcement(parameters, pending[0]!.targetMilestoneIndex)] };
  },
} satisfies Record<string, (network: SyntheticNetwork) => Partial<Milestone>>;

export type Breach = keyof typeof BREACHES;

/** Those that the next milestone may have. */
export function possibleBreaches(network: SyntheticNetwork): Breach[] {
  const { pending } = parametersAt(network, lastIndex(network));
  const all = Object.keys(BREACHES) as Breach[];
  return pending.length > 0 ? all : all.filter((each) => !each.startsWith('parameters'));
}

function withRoots(
  network: SyntheticNetwork,
  options: { parents?: string[]; timestamp?: number },
): Partial<Milestone> {
  const { request, response } = network.propose(options);
  return {
    timestamp: request.timestamp,
    parents: [...request.parents].sort().map(fromHex),
    inclusionMerkleRoot: fromHex(response.inclusionMerkleRoot),
    appliedMerkleRoot: fromHex(response.appliedMerkleRoot),
  };
}

/** Of one fund; so much too much is left in the treasury. */
function receipt(network: SyntheticNetwork, tooMuch = 0n): ReceiptOption {
  const { address } = network.account(1);
  const fund = { tailTransactionHash: new Uint8Array(49), address, deposit: 1_000_000n };
  const right = network.receipt([fund]);
  const { output } = right.transaction;
  const left = { ...output, amount: output.amount + tooMuch };
  return { ...right, transaction: { ...right.transaction, output: left } };
}

/** Protocol parameters from a milestone on. */
export function announcement(parameters: ProtocolParameters, targetMilestoneIndex: number) {
  const { version: protocolVersion } = parameters;
  const bytes = encode(protocolParameters, parameters);
  return { type: 1 as const, targetMilestoneIndex, protocolVersion, parameters: bytes };
}

/**
 * A next milestone over these parents, which the coordinator signed, and which breaks a rule: HORNET
 * stops at it.
 */
export function unsoundMilestone(network: SyntheticNetwork, parents: string[], breach: Breach) {
  const last = network.milestones.at(-1)!;
  const next: Partial<Milestone> = {
    index: network.nextIndex,
    previousMilestoneId: fromHex(last.id),
    options: [],
    ...withRoots(network, { parents }),
    ...BREACHES[breach](network),
  };
  const payload = resign(last.payload, next, network.signers);
  return { index: network.nextIndex, payload };
}

/** A payload of random bytes in all fields that may have any. */
export function randomMilestone(
  last: NetworkMilestone,
  strangers: readonly KeyPair[],
  random: Random,
): Uint8Array {
  const ids = Array.from({ length: random.between(1, 8) }, () => random.bytes(32).toHex());
  return resign(
    last.payload,
    {
      index: random.u32(),
      timestamp: random.u32(),
      previousMilestoneId: random.bytes(32),
      parents: ids.sort().map((id) => Uint8Array.fromHex(id)),
      inclusionMerkleRoot: random.bytes(32),
      appliedMerkleRoot: random.bytes(32),
      metadata: random.bytes(random.below(100)),
    },
    strangers,
  );
}
