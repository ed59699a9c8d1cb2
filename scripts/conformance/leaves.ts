/**
 * Merkle roots over the hashes of the numbers from 0 on: `{leaves, root}` (docs/protocol.md B.13).
 */

import { blake2b256 } from '../../src/stardust/crypto/hash.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { integer, type JsonObject, text } from '../../src/stardust/encoding/json-object.ts';
import { merkleRoot } from '../../src/stardust/proof/merkle.ts';
import { firstDifference } from './compare.ts';

/** A million leaves take seconds; more is a mistake in the file. */
const MAX_LEAVES = 1_000_000;

const hashes: Uint8Array[] = [];

export function runLeaves(vector: JsonObject): string | undefined {
  const count = integer(vector, 'leaves', MAX_LEAVES);
  while (hashes.length < count)
    hashes.push(blake2b256(new Uint8Array(Uint32Array.of(hashes.length).buffer)));
  return firstDifference(toHex(merkleRoot(hashes.slice(0, count))), text(vector, 'root'), 'root');
}
