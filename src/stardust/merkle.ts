/**
 * The Merkle root of a milestone's blocks (TIP-0004; protocol.md B.13).
 *
 * The tree is defined by recursion: n > 1 leaves are split at the largest power of two below n. Hashing neighbours level by
 * level, a last node without a neighbour going up as it is, makes the same tree: every left subtree is full, so each level
 * pairs within it, and what is left over at the right meets it on the level where the definition joins the two.
 */
import { blake2b256Short, compressBlock } from './blake2b-short.ts';
import { concatBytes } from './bytes.ts';

const HASH_BYTES = 32;
const HASH_WORDS = HASH_BYTES / 4;

// What is hashed begins with its kind, so that no node can pass for a leaf.
const LEAF = 0x00;
const NODE = 0x01;
const NODE_BYTES = 1 + 2 * HASH_BYTES;

/** B.13, n = 1: the 32-byte hash that stands for a block in the tree. */
export function leafHash(id: Uint8Array): Uint8Array<ArrayBuffer> {
  return blake2b256Short(concatBytes(Uint8Array.of(LEAF), id));
}

/** B.13, n > 1: the 32-byte hash over two subtrees, each given by its own. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array<ArrayBuffer> {
  return blake2b256Short(concatBytes(Uint8Array.of(NODE), left, right));
}

/** B.13: the 32-byte root over block IDs of 32 bytes, in white-flag order. */
export function merkleRoot(ids: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const leafHashes = new Uint8Array(ids.length * HASH_BYTES);
  for (const [i, id] of ids.entries()) leafHashes.set(leafHash(id), i * HASH_BYTES);
  return merkleRootOfLeaves(leafHashes, ids.length);
}

/**
 * B.13: the 32-byte root over `count` leaves whose hashes ({@link leafHash}) stand one after the other at the beginning of
 * `leafHashes`, which is left as it is. Throws a RangeError if it holds fewer.
 */
export function merkleRootOfLeaves(leafHashes: Uint8Array, count: number): Uint8Array<ArrayBuffer> {
  // Put so that NaN fails too: no count may lead to a root that is not one.
  if (!(Number.isInteger(count) && count >= 0 && count * HASH_BYTES <= leafHashes.length)) {
    throw new RangeError(`${leafHashes.length} bytes are not ${count} leaf hashes`);
  }
  const hashes = new Uint8Array(count * HASH_BYTES);
  hashes.set(leafHashes.subarray(0, hashes.length));
  return reduceToRoot(new Uint32Array(hashes.buffer), count);
}

/**
 * B.13: the same over hashes given as words, in whose place the tree is worked out: what is in `hashes` afterwards means nothing.
 *
 * As words: the tag byte shifts all of a node's message by one byte, which is two shifts a word, or 64 moves of a byte. The words are little-endian, as is
 * every machine that runs Workers.
 */
export function reduceToRoot(hashes: Uint32Array, count: number): Uint8Array<ArrayBuffer> {
  if (count === 0) return blake2b256Short(new Uint8Array(0));
  let nodes = count;
  while (nodes > 1) {
    const pairs = nodes >> 1;
    for (let i = 0; i < pairs; i++) hashPair(hashes, 2 * i * HASH_WORDS, i * HASH_WORDS);
    if (nodes % 2 === 1)
      hashes.copyWithin(pairs * HASH_WORDS, (nodes - 1) * HASH_WORDS, nodes * HASH_WORDS);
    nodes -= pairs;
  }
  return new Uint8Array(hashes.slice(0, HASH_WORDS).buffer);
}

// The message of a node: its 17 words are written anew each time, the others stay zero.
const message = new Uint32Array(32);

/** Hashes the two nodes that stand in `words` from `from` on into the node at `to`, which may be one of them. */
function hashPair(words: Uint32Array, from: number, to: number): void {
  let previous = NODE << 24;
  for (let i = 0; i < 2 * HASH_WORDS; i++) {
    const word = words[from + i]!;
    message[i] = (previous >>> 24) | (word << 8);
    previous = word;
  }
  message[2 * HASH_WORDS] = previous >>> 24;
  compressBlock(message, NODE_BYTES, words, to);
}
