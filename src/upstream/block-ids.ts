/** Words of upstreams about blocks that are not stored, bounded by heap, the oldest evicted. */
import { createBoundedMap } from '../platform/bounded-map.ts';
import { hasPassed } from '../platform/clock.ts';
import { concatBytes } from '../stardust/encoding/bytes.ts';

/** IDs of blocks, 64 hex digits each. */
export interface BlockIds {
  has(id: string): boolean;
  add(id: string): void;
}

/**
 * Creates a set of IDs that are remembered for a while.
 *
 * @param clock Unix milliseconds
 * @param max most IDs; each takes some 160 bytes of heap
 * @param forMs milliseconds; absent: until they are too many
 */
export function createBlockIds(
  clock: () => number,
  max: number,
  forMs = Number.POSITIVE_INFINITY,
): BlockIds {
  const addedAt = createBoundedMap<number>(max);
  return {
    has: (id) => !hasPassed(forMs, addedAt.peek(id) ?? Number.NEGATIVE_INFINITY, clock()),
    add: (id) => addedAt.set(id, clock()),
  };
}

/** Created for a ledger's generation and index, and again for another one. */
export type OfLedgerIndex<T> = (generation: string, ledger: number) => T;

/**
 * Remembers something while the ledger is at one index: a block that an upstream called
 * unreferenced is so at that index only. Users of an older index keep what they have.
 */
export function ofLedgerIndex<T>(create: () => T): OfLedgerIndex<T> {
  let held: { generation: string; ledger: number; value: T } | undefined;
  return (generation, ledger) => {
    if (held?.generation !== generation || held.ledger !== ledger)
      held = { generation, ledger, value: create() };
    return held.value;
  };
}

/** Hex IDs side by side, 32 bytes each: as strings they take three times as much. */
export const joinIds = (ids: readonly string[]): Uint8Array =>
  concatBytes(...ids.map((id) => Uint8Array.fromHex(id)));

export const splitIds = (bytes: Uint8Array): string[] =>
  Array.from({ length: bytes.length / 32 }, (_, i) => bytes.subarray(32 * i, 32 * i + 32).toHex());
