/**
 * The hashers of tree nodes, for what runs over each of them, or over all at once.
 */
import { nobleTreeHasher } from '../../src/stardust/tree-hasher/noble-tree-hasher.ts';
import { HASH_WORDS, type TreeHasher } from '../../src/stardust/tree-hasher/tree-hasher.ts';
import { unrolledTreeHasher } from '../../src/stardust/tree-hasher/unrolled-tree-hasher.ts';

export const treeHashers: readonly TreeHasher[] = [nobleTreeHasher, unrolledTreeHasher];

const unrolled = new Uint32Array(HASH_WORDS);

/** Hashes each node by noble's and by the unrolled one, and throws where they differ. */
export const agreeingTreeHashers: TreeHasher = {
  name: 'noble and unrolled',
  hashPair(words, from, to) {
    const children = words.slice(from, from + 2 * HASH_WORDS);
    unrolledTreeHasher.hashPair(words, from, to);
    unrolled.set(words.subarray(to, to + HASH_WORDS));
    words.set(children, from);
    nobleTreeHasher.hashPair(words, from, to);
    for (let i = 0; i < HASH_WORDS; i++) {
      if (words[to + i] !== unrolled[i])
        throw new Error(`${this.name} differ on the node over the words ${children}`);
    }
  },
};
