/**
 * What hashes the inner nodes of a Merkle tree (docs/protocol.md, B.13), and the message that a
 * node is hashed from.
 *
 * Two implementations: @noble/hashes (noble-tree-hasher.ts), which is the default and the
 * reference, and the unrolled one (unrolled-tree-hasher.ts), which choose-tree-hasher.ts lets in
 * only if it agrees.
 */

/** Words of a 32-byte hash. */
export const HASH_WORDS = 8;

/** Words of one block of BLAKE2b, and so of the array that {@link writeNodeMessage} fills. */
export const BLOCK_WORDS = 32;

/** What is hashed for a leaf begins with this byte, so that no leaf can pass for a node. */
export const LEAF_TAG = 0x00;

/** Length of a leaf's message: the tag and a block ID. */
export const LEAF_BYTES = 1 + 4 * HASH_WORDS;

/** What is hashed for a node begins with this byte, so that no node can pass for a leaf. */
export const NODE_TAG = 0x01;

/** Length of a node's message: the tag and two hashes. */
export const NODE_BYTES = 1 + 2 * 4 * HASH_WORDS;

/**
 * A hash is 8 words of 32 bits in the byte order of BLAKE2b (RFC 7693, section 2.4): the first byte
 * is the lowest of the first word. They are numbers, so that the machine's own byte order does not
 * matter.
 */
export interface TreeHasher {
  readonly name: string;
  /**
   * Hashes two nodes, whose 16 words stand in `words` from `from` on, into their parent, whose 8
   * words are written from `to` on. The parent may overwrite its children.
   */
  hashPair(words: Uint32Array, from: number, to: number): void;
}

/**
 * Writes the message of the parent of the two nodes that stand in `words` from `from` on.
 *
 * The tag shifts everything by one byte: two shifts a word instead of 64 moves of a byte. `message`
 * has {@link BLOCK_WORDS} words, of which the first 17 are written and the others must be zero.
 */
export function writeNodeMessage(words: Uint32Array, from: number, message: Uint32Array): void {
  let previous = NODE_TAG << 24;
  for (let i = 0; i < 2 * HASH_WORDS; i++) {
    const word = words[from + i]!;
    message[i] = (previous >>> 24) | (word << 8);
    previous = word;
  }
  message[2 * HASH_WORDS] = previous >>> 24;
}
