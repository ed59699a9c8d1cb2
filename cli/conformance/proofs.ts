/**
 * Vectors of Merkle roots and signatures (docs/protocol.md B.13 and F).
 */

import { verifySignature } from '../../src/platform/verify-signature.ts';
import { verifyZip215 } from '../../src/stardust/crypto/ed25519.ts';
import { blake2b256 } from '../../src/stardust/crypto/hash.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import {
  bytes,
  flag,
  integer,
  type JsonObject,
  text,
} from '../../src/stardust/encoding/json-object.ts';
import { StardustError } from '../../src/stardust/error.ts';
import { milestoneFromJson, type VerifySignature } from '../../src/stardust/milestone.ts';
import { merkleRoot, verifyInclusion } from '../../src/stardust/proof.ts';
import { firstDifference } from './compare.ts';

/** A million leaves take seconds; more is a mistake in the file. */
const MAX_LEAVES = 1_000_000;

const hashes: Uint8Array[] = [];

/** `{leaves, root}`: the Merkle root over the hashes of the numbers from 0 on. */
export function runLeaves(vector: JsonObject): string | undefined {
  const count = integer(vector, 'leaves', MAX_LEAVES);
  while (hashes.length < count)
    hashes.push(blake2b256(new Uint8Array(Uint32Array.of(hashes.length).buffer)));
  return firstDifference(toHex(merkleRoot(hashes.slice(0, count))), text(vector, 'root'), 'root');
}

/**
 * `{milestone, block, proof, appliedProof?, blockId?}`: a proof of inclusion. Every signature in
 * the milestone must be valid. Whose keys they are is not checked: the file names no keys to trust.
 */
export async function runProof(
  vector: JsonObject,
  verify: VerifySignature,
): Promise<string | undefined> {
  const { signatures } = milestoneFromJson(vector.milestone);
  const keys = signatures.map(({ publicKey }) => ({ publicKey, first: 0, last: 0 }));
  try {
    await verifyInclusion(vector, { keys, threshold: 1 }, verify);
    return undefined;
  } catch (error) {
    if (error instanceof StardustError) return error.reason;
    throw error;
  }
}

/** `{publicKey, signature, message, valid}`: an Ed25519 signature by ZIP-215. */
export async function runSignature(vector: JsonObject): Promise<string | undefined> {
  const signed = [
    bytes(vector, 'publicKey'),
    bytes(vector, 'message'),
    bytes(vector, 'signature'),
  ] as const;
  const valid = flag(vector, 'valid');
  return (
    firstDifference(verifyZip215(...signed), valid, 'valid') ??
    firstDifference(await verifySignature(...signed), valid, 'valid, with the help of WebCrypto')
  );
}
