/**
 * The hash of tree nodes by @noble/hashes: the default and the reference.
 *
 * Through noble's documented functions a node costs allocations: 1.3 kB by `blake2b(message)`, 250
 * bytes by `_cloneInto`, `update` and `digestInto` of one instance. A tree of 100,000 nodes would
 * leave 25 to 130 MB of garbage in an isolate of 128 MB. So this is one instance whose state is set
 * back before each node and whose compression is called directly; nothing is allocated, and a node
 * takes what noble's own compression takes.
 *
 * For that it relies on what noble exports and types but does not document: the class `_BLAKE2b`
 * and its protected members `get`, `set`, `length` and `compress`. package.json pins the version;
 * when it is raised, the compiler holds the types, and test/stardust/tree-hasher.test.ts the
 * values and the allocations.
 */
import { _BLAKE2b } from '@noble/hashes/blake2.js';
import { BLOCK_WORDS, NODE_BYTES, type TreeHasher, writeNodeMessage } from './tree-hasher.ts';

// A class, as only a subclass may call the protected members.
class NobleTreeHasher extends _BLAKE2b implements TreeHasher {
  readonly name = 'noble';
  readonly #message = new Uint32Array(BLOCK_WORDS);
  /** The state before any block: eight 64-bit words as halves, parameters mixed in. */
  readonly #initialState = this.get();

  constructor() {
    super({ dkLen: 32 });
    // Bytes hashed once the only block is; compression reads it and does not change it.
    this.length = NODE_BYTES;
  }

  hashPair(words: Uint32Array, from: number, to: number): void {
    writeNodeMessage(words, from, this.#message);
    this.set(...this.#initialState);
    this.compress(this.#message, 0, true);
    // The optimising compiler makes no array of this; an index or a loop over it would allocate.
    const [w0, w1, w2, w3, w4, w5, w6, w7] = this.get();
    words[to] = w0;
    words[to + 1] = w1;
    words[to + 2] = w2;
    words[to + 3] = w3;
    words[to + 4] = w4;
    words[to + 5] = w5;
    words[to + 6] = w6;
    words[to + 7] = w7;
  }
}

export const nobleTreeHasher: TreeHasher = new NobleTreeHasher();
