/**
 * Bytes of a client that are not passed on yet: a piece as it came, or pieces in one buffer, so that
 * what is counted is what is held, however short the pieces are.
 */

const EMPTY = Buffer.alloc(0);

export function createPieces() {
  let held: Buffer = EMPTY;
  let store: Buffer = EMPTY;
  return {
    get bytes() {
      return held;
    },
    /** What they take in memory. */
    get size() {
      return held.length === 0 ? 0 : held.buffer.byteLength;
    },
    push(piece: Buffer): void {
      if (held.length === 0) {
        held = piece;
        return;
      }
      const length = held.length + piece.length;
      let from = held.buffer === store.buffer ? held.byteOffset : -1;
      if (from < 0 || from + length > store.length) {
        // twice as long, so that bytes that come one by one are not copied each time; and not of
        // the pool, whose slabs are kept as a whole
        store = Buffer.allocUnsafeSlow(2 * length);
        held.copy(store);
        from = 0;
      }
      piece.copy(store, from + held.length);
      held = store.subarray(from, from + length);
    },
    /** Takes so many from the front; by default all. */
    take(count = held.length): Buffer {
      const taken = held.subarray(0, count);
      held = held.subarray(count);
      if (held.length === 0) held = store = EMPTY;
      return taken;
    },
    /** Removes those between two places. */
    cut(from: number, to: number): void {
      held.copyWithin(from, to);
      held = held.subarray(0, held.length - to + from);
    },
  };
}
