/**
 * Milestones signed by test keys, and spoilt ones, which a follower must refuse.
 */
import { compareBytes, equalBytes } from '../../../src/stardust/encoding/bytes.ts';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import type { MilestoneKeys } from '../../../src/stardust/milestone-keys.ts';
import { milestoneId } from '../../../src/stardust/wire/ids.ts';
import { type Milestone, milestone } from '../../../src/stardust/wire/milestone.ts';
import type { Ed25519Signature } from '../../../src/stardust/wire/unlock.ts';
import { readMilestone } from './blocks.ts';
import { type KeyPair, verifySignature } from './keys.ts';

/** The payload of a milestone, signed by all of `signers`. */
export function signMilestone(
  value: Omit<Milestone, 'signatures'>,
  signers: readonly KeyPair[],
): Uint8Array {
  const unsigned = { ...value, signatures: [] };
  const message = milestoneId(unsigned, encode(milestone, unsigned));
  const signatures = signers.map(
    ({ publicKey, sign }): Ed25519Signature => ({ type: 0, publicKey, signature: sign(message) }),
  );
  return withSignatures(value, signatures);
}

function withSignatures(
  value: Omit<Milestone, 'signatures'>,
  signatures: readonly Ed25519Signature[],
): Uint8Array {
  const sorted = signatures.toSorted((a, b) => compareBytes(a.publicKey, b.publicKey));
  return encode(milestone, { ...value, signatures: sorted });
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
  return withSignatures(value, value.signatures.slice(0, count));
}

/** One signature, the `position`-th, with a bit of its S turned over. */
export function forgedSignature(payload: Uint8Array, position = 0): Uint8Array {
  const value = readMilestone(payload);
  return withSignatures(
    value,
    value.signatures.map((each, i) =>
      i === position ? { ...each, signature: spoilt(each.signature) } : each,
    ),
  );
}

/**
 * All signatures and one more, which names `publicKey` and is worth nothing; M-3 makes the
 * milestone void.
 */
export function extraSignature(payload: Uint8Array, publicKey: Uint8Array): Uint8Array {
  const value = readMilestone(payload);
  const signature = spoilt(value.signatures[0]!.signature);
  return withSignatures(value, [...value.signatures, { type: 0, publicKey, signature }]);
}

export function spoilt(signature: Uint8Array): Uint8Array {
  const copy = signature.slice();
  copy[40]! ^= 1;
  return copy;
}

/**
 * Whether a block with these parents around this payload is a block of the milestone (M-2, M-3,
 * M-5). Keys without ranges only.
 */
export function carries(
  blockParents: readonly Uint8Array[],
  payload: Uint8Array,
  { keys, threshold }: MilestoneKeys,
): boolean {
  const value = readMilestone(payload);
  const id = milestoneId(value, payload);
  return (
    blockParents.length <= value.parents.length &&
    blockParents.every((parent, i) => equalBytes(parent, value.parents[i]!)) &&
    value.signatures.length >= threshold &&
    value.signatures.every(
      ({ publicKey, signature }) =>
        keys.some((key) => equalBytes(key.publicKey, publicKey)) &&
        verifySignature(publicKey, id, signature),
    )
  );
}
