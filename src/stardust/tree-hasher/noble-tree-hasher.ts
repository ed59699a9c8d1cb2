/**
 * The hash of tree nodes by @noble/hashes: the default and the reference. Leaves are hashed here
 * too, and only here.
 *
 * Through noble's documented functions a node leaves garbage: 1,150 bytes by `blake2b(message)`,
 * 790 by `_cloneInto`, `update` and `digestInto` of one instance (workerd). A tree of 100,000 nodes
 * would make 80 to 115 MB of it, in an isolate of 128 MB. So this is one instance whose state is
 * set back before each node and whose compression is called directly: nothing is allocated, and a
 * node takes what noble's own compression takes.
 *
 * For that it relies on what noble types but does not document: the protected members `length`,
 * `get`, `set` and `compress` of the instance, and the private halves of its state. In brackets
 * TypeScript lets them be used and still checks them. package.json pins the version; when it is
 * raised, the compiler holds the types, test/stardust/tree-hasher.test.ts the values, and
 * test/stardust/tree-hasher-allocation.test.ts the allocations.
 */
// biome-ignore-all lint/complexity/useLiteralKeys: a literal key would not compile, see above
import { blake2b } from '@noble/hashes/blake2.js';
import {
  BLOCK_WORDS,
  HASH_WORDS,
  LEAF_BYTES,
  LEAF_TAG,
  NODE_BYTES,
  type TreeHasher,
  writeNodeMessage,
} from './tree-hasher.ts';

const instance = blake2b.create({ dkLen: 32 });

/** The state before any block: eight 64-bit words, the low half of each first. */
const initial = Int32Array.from(instance['get']());

const nodeMessage = new Uint32Array(BLOCK_WORDS);
const leafMessage = new Uint32Array(BLOCK_WORDS);

export const nobleTreeHasher: TreeHasher = {
  name: 'noble',
  hashPair(words, from, to) {
    writeNodeMessage(words, from, nodeMessage);
    hashMessage(nodeMessage, NODE_BYTES, words, to);
  },
};

/**
 * B.13, n = 1: hashes a block's 32-byte ID into the leaf that stands for it, whose 8 words are
 * written to `words` from `to` on. Throws a RangeError for an ID of another length.
 */
export function hashLeaf(id: Uint8Array, words: Uint32Array, to: number): void {
  if (id.length !== 4 * HASH_WORDS) throw new RangeError(`block ID of ${id.length} bytes`);
  // LEAF_TAG shifts everything by one byte.
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
  // The bytes hashed once the only block is. Compression reads this and does not change it.
  instance['length'] = bytes;
  // One by one, and not by `set(...initial)` and `get()`: workerd's V8 would box each half.
  instance['set'](
    initial[0]!,
    initial[1]!,
    initial[2]!,
    initial[3]!,
    initial[4]!,
    initial[5]!,
    initial[6]!,
    initial[7]!,
    initial[8]!,
    initial[9]!,
    initial[10]!,
    initial[11]!,
    initial[12]!,
    initial[13]!,
    initial[14]!,
    initial[15]!,
  );
  instance['compress'](message, 0, true);
  words[to] = instance['v0l'];
  words[to + 1] = instance['v0h'];
  words[to + 2] = instance['v1l'];
  words[to + 3] = instance['v1h'];
  words[to + 4] = instance['v2l'];
  words[to + 5] = instance['v2h'];
  words[to + 6] = instance['v3l'];
  words[to + 7] = instance['v3h'];
}
