/**
 * A negative cache: blocks that no upstream gave a moment ago. For reads of single blocks only; a
 * coordinator that asks again must not be told what was true before.
 */
import { hasPassed } from '../clock.ts';

/** A block that was just sent may be known a moment later. */
const REMEMBERED_MS = 3000;

/** Some 160 bytes of heap each. */
const MAX_IDS = 10_000;

export interface UnknownBlocks {
  /** By hex ID. */
  has(id: string): boolean;
  add(id: string): void;
}

/** @param clock Unix milliseconds */
export function createUnknownBlocks(clock: () => number): UnknownBlocks {
  /** When each was asked for, the oldest first. */
  const askedAt = new Map<string, number>();
  return {
    has(id) {
      const at = askedAt.get(id);
      return at !== undefined && !hasPassed(REMEMBERED_MS, at, clock());
    },
    add(id) {
      const now = clock();
      askedAt.delete(id);
      askedAt.set(id, now);
      for (const [oldest, at] of askedAt) {
        if (askedAt.size <= MAX_IDS && !hasPassed(REMEMBERED_MS, at, now)) break;
        askedAt.delete(oldest);
      }
    },
  };
}
