/**
 * Blocks and milestones of any content. Whatever is not said takes a plain default.
 */
import { blake2b256 } from '../../../src/stardust/crypto/hash.ts';
import { concatBytes } from '../../../src/stardust/encoding/bytes.ts';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import { block, type Payload, parseBlock } from '../../../src/stardust/wire/block.ts';
import { milestoneId } from '../../../src/stardust/wire/ids.ts';
import { type Milestone, milestone } from '../../../src/stardust/wire/milestone.ts';
import { signedMilestone } from '../network/milestones.ts';
import { type KeyPair, keyPair } from './keys.ts';
import { ZERO } from './outputs.ts';

export interface BlockPlan {
  parents?: Uint8Array[];
  payload?: Payload | undefined;
  nonce?: bigint;
  protocolVersion?: number;
}

/** A block; its parents are put in order. */
export function blockBytes({
  parents = [ZERO],
  payload,
  nonce = 0n,
  protocolVersion = 2,
}: BlockPlan): Uint8Array {
  return encode(block, {
    protocolVersion,
    parents: parents.toSorted(Buffer.compare),
    payload,
    nonce,
  });
}

/** The first rule that the bytes break as a block, or undefined. */
export function brokenRule(bytes: Uint8Array): string | undefined {
  const result = parseBlock(bytes);
  return result.ok ? undefined : result.rule;
}

/** A block around payload bytes, whatever they are. */
export function blockAround(
  payload: Uint8Array,
  declaredLength = payload.length,
  nonce = 0,
): Uint8Array {
  const length = new Uint8Array(Uint32Array.of(declaredLength).buffer);
  return concatBytes(
    Uint8Array.of(2, 1),
    ZERO,
    length,
    payload,
    Uint8Array.of(nonce, 0, 0, 0, 0, 0, 0, 0),
  );
}

export interface MilestonePlan extends Partial<Omit<Milestone, 'type' | 'signatures'>> {
  signers?: KeyPair[];
}

/** A milestone; the signers sign what they should, and stand in order of their keys. */
export function milestoneOf({
  signers = [keyPair('coordinator')],
  ...given
}: MilestonePlan): Milestone {
  const value = {
    type: 7 as const,
    index: 1,
    timestamp: 1000,
    protocolVersion: 2,
    previousMilestoneId: ZERO,
    parents: [ZERO],
    inclusionMerkleRoot: blake2b256(new Uint8Array()),
    appliedMerkleRoot: blake2b256(new Uint8Array()),
    metadata: new Uint8Array(),
    options: [],
    ...given,
  };
  return signedMilestone(value, signers);
}

/** The ID of the milestone (B.9). */
export function idOfMilestone(value: Milestone): Uint8Array {
  return milestoneId(value, encode(milestone, value));
}
