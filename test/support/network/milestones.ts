/**
 * Milestones signed by test keys, and spoilt ones, which a follower must refuse.
 */
import { compareBytes, equalBytes } from '../../../src/stardust/encoding/bytes.ts';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import type { MilestoneKeys } from '../../../src/stardust/milestone-keys.ts';
import { milestoneId } from '../../../src/stardust/wire/ids.ts';
import { type Milestone, milestone } from '../../../src/stardust/wire/milestone.ts';
import type { Ed25519Signature } from '../../../src/stardust/wire/unlock.ts';
import { type KeyPair, verifySignature } from '../payloads/keys.ts';
import { readMilestone } from './blocks.ts';

/** The milestone, signed by all of `signers`, in the order of their keys. */
export function signedMilestone(
  value: Omit<Milestone, 'signatures'>,
  signers: readonly KeyPair[],
): Milestone {
  const unsigned = { ...value, signatures: [] };
  const message = milestoneId(unsigned, encode(milestone, unsigned));
  const signatures = signers.map(
    ({ publicKey, sign }): Ed25519Signature => ({ type: 0, publicKey, signature: sign(message) }),
  );
  return withSignatures(value, signatures);
}

/** Its payload. */
export function signMilestone(...args: Parameters<typeof signedMilestone>): Uint8Array {
  return encode(milestone, signedMilestone(...args));
}

function withSignatures(
  value: Omit<Milestone, 'signatures'>,
  signatures: readonly Ed25519Signature[],
): Milestone {
  const sorted = signatures.toSorted((a, b) => compareBytes(a.publicKey, b.publicKey));
  return { ...value, signatures: sorted };
}

/** The milestone with other fields, wrong roots for example, and good signatures over them. */
export function resign(
  payload: Uint8Array,
  changes: Partial<Milestone>,
  signers: readonly KeyPair[],
): Uint8Array {
  return signMilestone({ ...readMilestone(payload), ...changes }, signers);
}

/** Only the first `count` signatures, which are good. */
export function fewerSignatures(payload: Uint8Array, count: number): Uint8Array {
  const value = readMilestone(payload);
  return encode(milestone, withSignatures(value, value.signatures.slice(0, count)));
}

/** One signature, the `position`-th, with a bit of its S turned over. */
export function forgedSignature(payload: Uint8Array, position = 0): Uint8Array {
  const value = readMilestone(payload);
  const { signature, ...rest } = value.signatures[position]!;
  const signatures = value.signatures.with(position, { ...rest, signature: spoilt(signature) });
  return encode(milestone, withSignatures(value, signatures));
}

/**
 * All signatures and one more, which names `publicKey` and is worth nothing; M-3 makes the
 * milestone void.
 */
export function extraSignature(payload: Uint8Array, publicKey: Uint8Array): Uint8Array {
  const value = readMilestone(payload);
  const signature = spoilt(value.signatures[0]!.signature);
  const signatures = [...value.signatures, { type: 0 as const, publicKey, signature }];
  return encode(milestone, withSignatures(value, signatures));
}

function spoilt(signature: Uint8Array): Uint8Array {
  const copy = signature.slice();
  copy[40]! ^= 1;
  return copy;
}

/**
 * Whether a block with these parents around this payload is a block of the milestone (M-2 to M-5).
 */
export function carries(
  blockParents: readonly Uint8Array[],
  payload: Uint8Array,
  { keys, threshold }: MilestoneKeys,
): boolean {
  const value = readMilestone(payload);
  const id = milestoneId(value, payload);
  const able = keys.filter(
    ({ first, last }) => first <= value.index && (last === 0 || value.index <= last),
  );
  return (
    able.length >= threshold &&
    blockParents.length <= value.parents.length &&
    blockParents.every((parent, i) => equalBytes(parent, value.parents[i]!)) &&
    value.signatures.length >= threshold &&
    value.signatures.every(
      ({ publicKey, signature }) =>
        able.some((key) => equalBytes(key.publicKey, publicKey)) &&
        verifySignature(publicKey, id, signature),
    )
  );
}
