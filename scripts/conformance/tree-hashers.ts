/**
 * The hashers of tree nodes, for what runs over each of them, or over all at once.
 */
import { nobleTreeHasher } from '../../src/stardust/tree-hasher/noble-tree-hasher.ts';
import { HASH_WORDS, type TreeHasher } from '../../src/stardust/tree-hasher/tree-hasher.ts';
import { unrolledTreeHasher } from '../../src/stardust/tree-hasher/unrolled-tree-hasher.ts';

export const treeHashers: readonly TreeHasher[] = [nobleTreeHasher, unrolledTreeHasher];

/** Hashes each node by noble's and by the unrolled one, and throws where they differ. */
export const agreeingTreeHashers: TreeHasher = {
  name: 'noble and unrolled',
  hashPair(words, from, to) {
    const pair = words.slice(from, from + 2 * HASH_WORDS);
    nobleTreeHasher.hashPair(words, from, to);
    const parent = words.subarray(to, to + HASH_WORDS);
    const children = pair.join();
    unrolledTreeHasher.hashPair(pair, 0, 0);
    if (parent.some((word, i) => word !== pair[i])) {
      throw new Error(`${this.name} differ on the node over the words ${children}`);
    }
  },
};
