/**
 * White-flag order (TIP-0002; docs/protocol.md, E.1): depth first, parents in order, each block
 * after all its parents. With a stack instead of recursion: a past cone may be a single chain.
 */

/** Blocks have indexes from 0 on. */
export interface BlockGraph {
  size: number;
  parentCountAt(block: number): number;
  /** The index of a parent; -1 where the walk stops. */
  parentAt(block: number, parent: number): number;
}

/** Returns `tops` and all their ancestors, each after its parents. Indexes of -1 are skipped. */
export function orderParentsFirst(
  tops: Iterable<number>,
  { size, parentCountAt, parentAt }: BlockGraph,
): Uint32Array {
  const order = new Uint32Array(size);
  const entered = new Uint8Array(size);
  /** Blocks whose parents are not all done, and for each block how many of its parents are. */
  const stack = new Uint32Array(size);
  const done = new Uint8Array(size);
  let ordered = 0;
  for (const top of tops) {
    let depth = 0;
    let next = top;
    for (;;) {
      if (next >= 0 && entered[next] === 0) {
        entered[next] = 1;
        stack[depth++] = next;
      }
      if (depth === 0) break;
      const block = stack[depth - 1]!;
      if (done[block]! < parentCountAt(block)) {
        next = parentAt(block, done[block]!++);
      } else {
        order[ordered++] = block;
        depth--;
        next = -1;
      }
    }
  }
  return order.subarray(0, ordered);
}
