/**
 * The Merkle root of TIP-0004 by its definition, word for word (docs/protocol.md, B.13), over
 * @noble/hashes.
 */
import { blake2b } from '@noble/hashes/blake2.js';
import { concatBytes } from '../../../src/stardust/encoding/bytes.ts';

const hash = (...parts: Uint8Array[]) => blake2b(concatBytes(...parts), { dkLen: 32 });

export function merkleRootByDefinition(ids: readonly Uint8Array[]): Uint8Array {
  if (ids.length === 0) return hash();
  if (ids.length === 1) return hash(Uint8Array.of(0), ids[0]!);
  let k = 1;
  while (k * 2 < ids.length) k *= 2;
  const halves = [ids.slice(0, k), ids.slice(k)].map(merkleRootByDefinition);
  return hash(Uint8Array.of(1), ...halves);
}
