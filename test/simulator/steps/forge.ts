/**
 * Milestone payloads that no coordinator signed. A block around one needs no proof of work, and
 * HORNET stores it and builds on it like on any other block.
 */
import { fromHex } from '../../../src/stardust/encoding/bytes.ts';
import { readMilestone } from '../../support/network/blocks.ts';
import {
  extraSignature,
  fewerSignatures,
  forgedSignature,
  resign,
} from '../../support/network/milestones.ts';
import type { NetworkMilestone } from '../../support/network/network-model.ts';
import type { Random } from '../../support/network/random.ts';
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
