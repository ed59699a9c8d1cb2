/**
 * The skeleton of a past cone: which unknown blocks it has and who their parents are, without their
 * contents. So the order of 50,000 blocks takes some 10 MB of heap, where the blocks would take
 * hundreds.
 */
import { type KnownHistory, type KnownReference, provesOpen } from '../ledger/prove-open.ts';

/** Blocks have numbers here, in the order in which the walk met them. */
export interface ConeSkeleton {
  /** How many blocks were met, known ones too. */
  readonly size: number;
  /** Hex IDs of the blocks with the numbers from the first one up to the end, not included. */
  idsBetween(first: number, end: number): string[];
  idOf(block: number): string;
  /** Notes that the ledger knows the block. */
  know(id: string, reference: KnownReference): void;
  /** Notes the parents of a block that the ledger does not know, and so meets them. Hex IDs. */
  open(id: string, parents: readonly string[]): void;
  isKnown(id: string): boolean;
  /**
   * Numbers of the unknown blocks in white-flag order (docs/protocol.md, E.1): parents first.
   * Only once the walk has come down to what is known everywhere.
   */
  order(): number[];
  /**
   * Of the blocks in that order those that can be stored: proven open (src/ledger/prove-open.ts),
   * with parents that are known or can be stored too.
   */
  storable(order: readonly number[], history: KnownHistory): number[];
}

/** @param tops hex IDs of the milestone's parents */
export function createConeSkeleton(tops: readonly string[]): ConeSkeleton {
  const numbers = new Map<string, number>();
  const ids: string[] = [];
  /** Absent for blocks that are known, or not looked at yet. */
  const parentsOf: (readonly number[] | undefined)[] = [];
  const known = new Map<number, KnownReference>();
  const meet = (id: string): number => {
    const met = numbers.get(id);
    if (met !== undefined) return met;
    const number = ids.length;
    numbers.set(id, number);
    ids.push(id);
    parentsOf.push(undefined);
    return number;
  };
  const roots = tops.map(meet);
  return {
    get size() {
      return ids.length;
    },
    idsBetween: (first, end) => ids.slice(first, end),
    idOf: (block) => ids[block]!,
    know(id, reference) {
      known.set(meet(id), reference);
    },
    open(id, parents) {
      parentsOf[meet(id)] = parents.map(meet);
    },
    isKnown: (id) => known.has(numbers.get(id)!),
    order: () => orderBlocks(roots, parentsOf),
    storable(order, history) {
      const proven = new Set<number>();
      const storable = new Set<number>();
      for (const block of order) {
        const parents = parentsOf[block]!;
        const isProven = parents.some((parent) => {
          const reference = known.get(parent);
          return reference === undefined ? proven.has(parent) : provesOpen(reference, history);
        });
        if (!isProven) continue;
        proven.add(block);
        if (parents.every((parent) => known.has(parent) || storable.has(parent)))
          storable.add(block);
      }
      return [...storable];
    },
  };
}

/** Depth first, with a stack instead of recursion: a cone may be a single chain. */
function orderBlocks(
  roots: readonly number[],
  parentsOf: readonly (readonly number[] | undefined)[],
): number[] {
  const order: number[] = [];
  const entered = new Set<number>();
  for (const root of roots) {
    /** Blocks under way, and how many of the parents of each were looked at. */
    const stack: { block: number; seen: number }[] = [];
    const enter = (block: number) => {
      if (parentsOf[block] === undefined || entered.has(block)) return;
      entered.add(block);
      stack.push({ block, seen: 0 });
    };
    enter(root);
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const parents = parentsOf[top.block]!;
      if (top.seen < parents.length) {
        enter(parents[top.seen++]!);
      } else {
        order.push(top.block);
        stack.pop();
      }
    }
  }
  return order;
}
