/**
 * Bytes that come in pieces, in one buffer that grows. A Buffer for each piece would take a hundred
 * bytes and more, also for a piece of one byte.
 */

const FIRST_BYTES = 1024;

const EMPTY = Buffer.alloc(0);

export interface ByteStore {
  add(piece: Buffer): void;
  /** All bytes, which the caller may keep. The store is empty then. */
  take(): Buffer;
  readonly length: number;
  /** What it holds in memory. */
  readonly capacity: number;
}

/** @param most the longest that it gets, where that is known */
export function createByteStore(most = Number.POSITIVE_INFINITY): ByteStore {
  let store = EMPTY;
  let length = 0;
  return {
    add(piece) {
      const needed = length + piece.length;
      if (needed > store.length) {
        const size = Math.max(needed, Math.min(most, 2 * store.length), FIRST_BYTES);
        // not of the pool, whose slabs are kept as a whole
        const grown = Buffer.allocUnsafeSlow(size);
        store.copy(grown, 0, 0, length);
        store = grown;
      }
      piece.copy(store, length);
      length = needed;
    },
    take() {
      const taken = store.subarray(0, length);
      store = EMPTY;
      length = 0;
      return taken;
    },
    get length() {
      return length;
    },
    get capacity() {
      return store.length;
    },
  };
}
