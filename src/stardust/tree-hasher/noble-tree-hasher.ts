/**
 * The hash of tree nodes by @noble/hashes: the default and the reference.
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
import { BLOCK_WORDS, NODE_BYTES, type TreeHasher, writeNodeMessage } from './tree-hasher.ts';

const instance = blake2b.create({ dkLen: 32 });

/** The state before any block: eight 64-bit words, the low half of each first. */
const initial = Int32Array.from(instance['get']());

/** The bytes hashed once the only block is. Compression reads this and does not change it. */
instance['length'] = NODE_BYTES;

const message = new Uint32Array(BLOCK_WORDS);

export const nobleTreeHasher: TreeHasher = {
  name: 'noble',
  hashPair(words, from, to) {
    writeNodeMessage(words, from, message);
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
  },
};
