/**
 * What is remembered of blocks that are not stored: their contents, which are fixed by their IDs
 * and so never become wrong, and what upstreams said about them. All of it is limited by heap, and
 * the oldest is evicted first.
 */
import { createBoundedMap } from '../bounded-map.ts';
import { hasPassed } from '../clock.ts';
import type { ParsedBlock } from '../stardust/wire/block.ts';

/** Blocks by their 64 hex digits. */
export interface BlockCache {
  get(id: string): ParsedBlock | undefined;
  set(id: string, block: ParsedBlock): void;
  delete(id: string): void;
}

/** The heap of a parsed block without its bytes, and of the ID of each parent, measured. */
const BLOCK_BYTES = 1000;
const PARENT_BYTES = 330;

/** A parsed transaction's objects take so many times its bytes, measured. Data stays as it came. */
const TRANSACTION_FACTOR = 10;

/** The heap of a parsed block. */
export function heapOf({ bytes, block, transaction }: ParsedBlock): number {
  const factor = transaction === undefined ? 1 : TRANSACTION_FACTOR;
  return BLOCK_BYTES + PARENT_BYTES * block.parents.length + factor * bytes.length;
}

/**
 * Blocks that were fetched. One that was evicted has to be fetched again. A walk fetches children
 * first and storing reads parents first: if reading made a block recent, each block that is fetched
 * again would evict the next one to be read.
 */
export function createBlockCache(maxHeapBytes: number): BlockCache & { clear(): void } {
  const { peek, ...blocks } = createBoundedMap<ParsedBlock>(maxHeapBytes, (_, block) =>
    heapOf(block),
  );
  return { ...blocks, get: peek };
}

/** IDs of blocks, 64 hex digits each. */
export interface BlockIds {
  has(id: string): boolean;
  add(id: string): void;
}

/**
 * IDs that are remembered for a while.
 *
 * @param clock Unix milliseconds
 * @param max how many at most; each takes some 160 bytes of heap
 * @param forMs milliseconds; absent: until they are too many
 */
export function createBlockIds(
  clock: () => number,
  max: number,
  forMs = Number.POSITIVE_INFINITY,
): BlockIds {
  const addedAt = createBoundedMap<number>(max);
  return {
    has(id) {
      const at = addedAt.peek(id);
      return at !== undefined && !hasPassed(forMs, at, clock());
    },
    add: (id) => addedAt.set(id, clock()),
  };
}

/** Created for a ledger's generation and index, and again for another one. */
export type OfLedgerIndex<T> = (generation: string, ledger: number) => T;

/**
 * What is remembered while the ledger is at one index. That an upstream called a block unreferenced
 * is true for that index only: a later milestone may reference the block, and D1 does not keep
 * its ID for ever. Whoever outlives the index keeps what it has, and others do not see it.
 */
export function ofLedgerIndex<T>(create: () => T): OfLedgerIndex<T> {
  let held: { generation: string; ledger: number; value: T } | undefined;
  return (generation, ledger) => {
    if (held?.generation !== generation || held.ledger !== ledger)
      held = { generation, ledger, value: create() };
    return held.value;
  };
}
