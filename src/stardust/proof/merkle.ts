/**
 * The Merkle root of a milestone's blocks (TIP-0004; docs/protocol.md, B.13). The tree is defined
 * by recursion: n > 1 leaves are split at the largest power of two below n. Hashing neighbours
 * level by level, a last node without a neighbour going up as it is, makes the same tree: each
 * level pairs within the full left subtrees, and what is left over at the right meets them on the
 * level where the definition joins the two.
 */
import { blake2b256 } from '../crypto/hash.ts';
import { concatBytes } from '../encoding/bytes.ts';
import { HASH_WORDS, hashLeaf, hashPair, LEAF_TAG, NODE_TAG } from './tree-hash.ts';

export const HASH_BYTES = 4 * HASH_WORDS;

/** B.13, n = 1: the 32-byte hash that stands for a block in the tree. */
export function leafHash(id: Uint8Array): Uint8Array<ArrayBuffer> {
  return blake2b256(concatBytes(Uint8Array.of(LEAF_TAG), id));
}

/** B.13, n > 1: the 32-byte hash over two subtrees, each given by its own. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array<ArrayBuffer> {
  return blake2b256(concatBytes(Uint8Array.of(NODE_TAG), left, right));
}

/** B.13: the 32-byte root over block IDs of 32 bytes, in white-flag order. */
export function merkleRoot(ids: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return reduceToRoot(leafWords(ids), ids.length);
}

/** The hashes ({@link leafHash}) of block IDs of 32 bytes, one after the other. */
export function hashLeaves(ids: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return toBytes(leafWords(ids));
}

/** Returns the hashes of {@link hashLeaves} as words (tree-hash.ts). */
function leafWords(ids: readonly Uint8Array[]): Uint32Array {
  const words = new Uint32Array(ids.length * HASH_WORDS);
  for (const [i, id] of ids.entries()) hashLeaf(id, words, i * HASH_WORDS);
  return words;
}

/**
 * B.13: returns the 32-byte root over `count` leaf hashes ({@link leafHash}), one after the other
 * at the beginning of `leafHashes`. Throws a RangeError if it holds fewer.
 */
export function merkleRootOfLeaves(leafHashes: Uint8Array, count: number): Uint8Array<ArrayBuffer> {
  // Written as a positive test, so that NaN is refused.
  if (!(Number.isInteger(count) && count >= 0 && count * HASH_BYTES <= leafHashes.length))
    throw new RangeError(`${leafHashes.length} bytes are not ${count} leaf hashes`);
  const view = new DataView(leafHashes.buffer, leafHashes.byteOffset, leafHashes.byteLength);
  const words = new Uint32Array(count * HASH_WORDS);
  for (let i = 0; i < words.length; i++) words[i] = view.getUint32(4 * i, true);
  return reduceToRoot(words, count);
}

/** B.13: returns the 32-byte root over leaf hashes in words (tree-hash.ts), which it overwrites. */
export function reduceToRoot(hashes: Uint32Array, count: number): Uint8Array<ArrayBuffer> {
  if (count === 0) return blake2b256(new Uint8Array(0));
  let nodes = count;
  while (nodes > 1) {
    const pairs = nodes >> 1;
    for (let i = 0; i < pairs; i++) hashPair(hashes, 2 * i * HASH_WORDS, i * HASH_WORDS);
    if (nodes % 2 === 1)
      hashes.copyWithin(pairs * HASH_WORDS, (nodes - 1) * HASH_WORDS, nodes * HASH_WORDS);
    nodes -= pairs;
  }
  return toBytes(hashes.subarray(0, HASH_WORDS));
}

function toBytes(words: Uint32Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(4 * words.length);
  const view = new DataView(bytes.buffer);
  for (const [i, word] of words.entries()) view.setUint32(4 * i, word, true);
  return bytes;
}
