/**
 * A hasher of tree nodes that is wrong in one bit.
 */
import type { TreeHasher } from '../../../src/stardust/tree-hasher/tree-hasher.ts';

/**
 * Like `hasher`, but for one bit of its node number `node`, from 0 on.
 *
 * @param bit of the node's 256
 */
export function wrongInABit(hasher: TreeHasher, node: number, bit: number): TreeHasher {
  let hashed = 0;
  return {
    name: hasher.name,
    hashPair(words, from, to) {
      hasher.hashPair(words, from, to);
      if (hashed++ === node) words[to + (bit >> 5)]! ^= 1 << (bit & 31);
    },
  };
}
