/**
 * Hashes of a Merkle tree's leaves and nodes (docs/protocol.md, B.13), by @noble/hashes. A hash is
 * 8 words of 32 bits in the byte order of BLAKE2b (RFC 7693, section 2.4): the first byte is the
 * lowest of the first word. Words are numbers, whatever the machine's byte order.
 *
 * Noble's documented functions leave garbage for each node: 1,150 bytes by `blake2b(message)`, 790
 * by `_cloneInto`, `update` and `digestInto` of one instance (workerd). A tree of 100,000 nodes
 * would leave 80 to 115 MB, in an isolate of 128 MB. So the compression of the one instance
 * (src/stardust/crypto/hash.ts) is called directly, and nothing is allocated. That relies on more
 * members that noble types but does not document: `compress`, and the private halves of the state.
 * test/stardust/proof/tree-hash.test.ts checks the values, and
 * test/stardust/proof/tree-hash-allocation.test.ts the allocations.
 */
// biome-ignore-all lint/complexity/useLiteralKeys: a literal key would not compile, see above
import { resetHash } from '../crypto/hash.ts';

/** Words of a 32-byte hash. */
export const HASH_WORDS = 8;

/** Words of one block of BLAKE2b. */
const BLOCK_WORDS = 32;

/** The first byte of a leaf's message, so that no leaf can be mistaken for a node. */
export const LEAF_TAG = 0x00;

/** Bytes of a leaf's message: the tag and a block ID. */
const LEAF_BYTES = 1 + 4 * HASH_WORDS;

/** The first byte of a node's message, so that no node can be mistaken for a leaf. */
export const NODE_TAG = 0x01;

/** Bytes of a node's message: the tag and two hashes. */
const NODE_BYTES = 1 + 2 * 4 * HASH_WORDS;

/** Zero behind the first 17 words, which every node overwrites. */
const nodeMessage = new Uint32Array(BLOCK_WORDS);
/** Zero behind the first 9 words, which every leaf overwrites. */
const leafMessage = new Uint32Array(BLOCK_WORDS);

/**
 * B.13, n > 1: hashes two nodes, 16 words from `from` on, into their parent, 8 words from `to` on,
 * which may overwrite its children.
 */
export function hashPair(words: Uint32Array, from: number, to: number): void {
  // NODE_TAG shifts everything by one byte: two shifts a word instead of 64 moves of a byte
  let previous = NODE_TAG << 24;
  for (let i = 0; i < 2 * HASH_WORDS; i++) {
    const word = words[from + i]!;
    nodeMessage[i] = (previous >>> 24) | (word << 8);
    previous = word;
  }
  nodeMessage[2 * HASH_WORDS] = previous >>> 24;
  hashMessage(nodeMessage, NODE_BYTES, words, to);
}

/**
 * B.13, n = 1: hashes a block's 32-byte ID into its leaf, 8 words from `to` on. Throws a RangeError
 * for an ID of another length.
 */
export function hashLeaf(id: Uint8Array, words: Uint32Array, to: number): void {
  if (id.length !== 4 * HASH_WORDS) throw new RangeError(`block ID of ${id.length} bytes`);
  // LEAF_TAG shifts everything by one byte
  leafMessage[0] = LEAF_TAG | (id[0]! << 8) | (id[1]! << 16) | (id[2]! << 24);
  for (let i = 1; i < HASH_WORDS; i++) {
    const at = 4 * i - 1;
    leafMessage[i] = id[at]! | (id[at + 1]! << 8) | (id[at + 2]! << 16) | (id[at + 3]! << 24);
  }
  leafMessage[HASH_WORDS] = id[4 * HASH_WORDS - 1]!;
  hashMessage(leafMessage, LEAF_BYTES, words, to);
}

/** Hashes the first `bytes` bytes of `message`, which is zero behind them. */
function hashMessage(message: Uint32Array, bytes: number, words: Uint32Array, to: number): void {
  const instance = resetHash();
  // The bytes hashed once the only block is. Compression reads this and does not change it.
  instance['length'] = bytes;
  instance['compress'](message, 0, true);
  // One by one, and not by `get()`: workerd's V8 would box each half.
  words[to] = instance['v0l'];
  words[to + 1] = instance['v0h'];
  words[to + 2] = instance['v1l'];
  words[to + 3] = instance['v1h'];
  words[to + 4] = instance['v2l'];
  words[to + 5] = instance['v2h'];
  words[to + 6] = instance['v3l'];
  words[to + 7] = instance['v3h'];
}
