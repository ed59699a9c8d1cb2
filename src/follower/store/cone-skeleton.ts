/**
 * The skeleton of a past cone: which unknown blocks it has and who their parents are, without their
 * contents, in typed arrays. 300,000 blocks take some 25 MB of heap, where parsed blocks would take
 * hundreds.
 */
import { IdMap } from '../../ledger/core/id-map.ts';

/** Blocks have indexes here, in the order in which the walk met them. */
export interface ConeSkeleton {
  /** How many blocks were met, known ones too. */
  readonly size: number;
  /** Hex IDs of the blocks with the indexes from the first one up to the end, not included. */
  idsBetween(first: number, end: number): string[];
  idOf(block: number): string;
  /** Notes the parents of a block that the ledger does not know, and so meets them. Hex IDs. */
  setParents(id: string, parents: readonly string[]): void;
  /**
   * Indexes of the unknown blocks in white-flag order (docs/protocol.md, E.1): parents first. Only
   * once the walk has come down to known blocks everywhere.
   */
  order(): Int32Array;
}

/** @param tops hex IDs of the milestone's parents */
export function createConeSkeleton(tops: readonly string[]): ConeSkeleton {
  const ids = new IdMap(32);
  /** Where a block's parents begin in `parents`, plus one; 0 of blocks that are known. */
  let starts = new Int32Array(64);
  /** How many parents, and then their indexes. */
  let parents = new Int32Array(256);
  let used = 0;
  const meet = (id: string): number => {
    const met = ids.indexOf(id);
    return met >= 0 ? met : ids.set(id, 0);
  };
  const roots = tops.map(meet);
  return {
    get size() {
      return ids.size;
    },
    idsBetween: (first, end) =>
      Array.from({ length: Math.min(end, ids.size) - first }, (_, i) => ids.idAt(first + i)),
    idOf: (block) => ids.idAt(block),
    setParents(id, parentIds) {
      const block = meet(id);
      const indexes = parentIds.map(meet);
      starts = withRoom(starts, ids.size);
      parents = withRoom(parents, used + indexes.length + 1);
      starts[block] = used + 1;
      parents[used++] = indexes.length;
      for (const index of indexes) parents[used++] = index;
    },
    order: () => orderBlocks(roots, withRoom(starts, ids.size), parents, ids.size),
  };
}

function withRoom(array: Int32Array<ArrayBuffer>, size: number): Int32Array<ArrayBuffer> {
  if (size <= array.length) return array;
  const larger = new Int32Array(Math.max(size, 2 * array.length));
  larger.set(array);
  return larger;
}

/** Depth first, with a stack instead of recursion: a cone may be a single chain. */
function orderBlocks(
  roots: readonly number[],
  starts: Int32Array,
  parents: Int32Array,
  size: number,
): Int32Array {
  const order = new Int32Array(size);
  let ordered = 0;
  const entered = new Uint8Array(size);
  /** Blocks under way, and how many of the parents of each were visited. */
  const stack = new Int32Array(size);
  const visited = new Uint8Array(size);
  for (const root of roots) {
    let depth = 0;
    let next = root;
    for (;;) {
      if (next >= 0 && starts[next] !== 0 && entered[next] === 0) {
        entered[next] = 1;
        stack[depth++] = next;
      }
      if (depth === 0) break;
      const block = stack[depth - 1]!;
      const start = starts[block]! - 1;
      if (visited[block]! < parents[start]!) {
        next = parents[start + 1 + visited[block]!++]!;
      } else {
        order[ordered++] = block;
        depth--;
        next = -1;
      }
    }
  }
  return order.subarray(0, ordered);
}
