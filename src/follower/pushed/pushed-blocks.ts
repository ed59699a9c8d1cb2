/**
 * Blocks that an upstream pushed and that are not stored yet. They were not asked for, so all that
 * is known of one is that its bytes parse and that `fault` finds none; and they come in any order.
 *
 * Each second, and when somebody asks, whoever stores blocks takes the next ones in hand:
 *
 *   1. `next` gives blocks, parents first, and the IDs that lead out of what is held.
 *   2. The database says in one batch which of all these it knows; `looked` is told.
 *   3. Blocks that were stored, or were known, are given to `remove`.
 *
 * A block upon a parent that is nowhere waits: it is not given again until the parent has come or
 * is found in the database after all.
 *
 * What is held is bounded by heap. Where a block does not fit, those that wait go first, the newest
 * before the others, as the oldest are nearest to what is missing and the first to be wanted when
 * it is there; where none waits it is not taken. A block that is dropped is not lost: it is fetched
 * when a milestone, a tip or a question leads to it.
 */
import { hasPassed } from '../../clock.ts';
import { createConeSkeleton } from '../../ledger/intake/cone-skeleton.ts';
import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import { type ParsedBlock, parseBlock } from '../../stardust/wire/block.ts';
import { heapOf } from '../../upstream/block-cache.ts';

/** Milliseconds after which a parent that was nowhere is looked for again; so many in one go. */
const LOOK_AGAIN_AFTER_MS = 5000;
const MAX_LOOKED_AGAIN = 500;

/** Milliseconds for which a block is held. */
const LONGEST_STAY_MS = 30_000;

export interface NextBlocks {
  /** Each behind those of its parents that are held, which are among them. */
  blocks: ParsedBlock[];
  /** Hex IDs to look up: parents that are not held. */
  parents: Set<string>;
}

/** IDs are hex, times Unix milliseconds. */
export interface PushedBlocks {
  /** Takes a block's bytes if they can be one and it fits. */
  push(bytes: Uint8Array, now: number): void;
  get(id: string): ParsedBlock | undefined;
  /**
   * The oldest blocks that wait for nothing, as far as is known.
   *
   * @param most how many
   */
  next(most: number, now: number): NextBlocks;
  /** Which of the IDs that `next` gave are known: upon the others, blocks wait. */
  looked(parents: Iterable<string>, isKnown: (id: string) => boolean, now: number): void;
  /** Parents that have been nowhere since that time or longer, the longest first. */
  missing(since: number): string[];
  /** Blocks that need not be held any more. */
  remove(ids: Iterable<string>): void;
  clear(): void;
  readonly heapBytes: number;
  readonly size: number;
}

interface Held {
  block: ParsedBlock;
  parents: string[];
  heap: number;
  came: number;
}

/** A parent that is nowhere: since when, and when it was looked for last. */
interface Lack {
  since: number;
  looked: number;
}

export interface PushOptions {
  /** Heap for all blocks together. */
  maxHeapBytes: number;
  /** Why a node would not store such a block if nobody asked for it; undefined if it would. */
  fault: (block: ParsedBlock) => string | undefined;
}

export function createPushedBlocks({ maxHeapBytes, fault }: PushOptions): PushedBlocks {
  /** In the order in which they came. */
  const held = new Map<string, Held>();
  const lacks = new Map<string, Lack>();
  /** Held blocks that wait, in the order in which they came; as of the last `next`. */
  const waiting = new Set<string>();
  /** The same, the newest last, and some that do not wait any more. */
  let newestWaiting: string[] = [];
  let heapBytes = 0;

  function remove(id: string): void {
    const entry = held.get(id);
    if (entry === undefined) return;
    heapBytes -= entry.heap;
    held.delete(id);
    waiting.delete(id);
  }

  /** Whether so many bytes fit, once blocks that wait have made room. */
  function makeRoom(bytes: number): boolean {
    if (bytes > maxHeapBytes) return false;
    while (heapBytes + bytes > maxHeapBytes) {
      const id = newestWaiting.pop();
      if (id === undefined) break;
      if (waiting.has(id)) remove(id);
    }
    return heapBytes + bytes <= maxHeapBytes;
  }

  function add(block: ParsedBlock, now: number): void {
    const id = toHexDigits(block.id);
    if (held.has(id)) return;
    const parents = block.block.parents.map(toHexDigits);
    const own = heapOf(block);
    if (!makeRoom(own)) return;
    heapBytes += own;
    held.set(id, { block, parents, heap: own, came: now });
  }

  function dropOld(now: number): void {
    for (const [id, { came }] of held) {
      if (!hasPassed(LONGEST_STAY_MS, came, now)) break;
      remove(id);
    }
    const parents = new Set([...held.values()].flatMap((entry) => entry.parents));
    for (const id of lacks.keys()) if (!parents.has(id) || held.has(id)) lacks.delete(id);
  }

  /** Finds out which blocks wait; returns the IDs of the others, parents first. */
  function findReady(): string[] {
    const skeleton = createConeSkeleton(held.keys());
    for (const [id, { parents }] of held) skeleton.setParents(id, parents);
    const found = new Set<string>();
    const isWaiting = (id: string) =>
      held.get(id)!.parents.some((parent) => found.has(parent) || lacks.has(parent));
    const ready = Array.from(skeleton.order(), skeleton.idAt).filter((id) => {
      if (isWaiting(id)) found.add(id);
      return !found.has(id);
    });
    waiting.clear();
    for (const id of held.keys()) if (found.has(id)) waiting.add(id);
    newestWaiting = [...waiting];
    return ready;
  }

  return {
    push(bytes, now) {
      const result = parseBlock(bytes);
      if (result.ok && fault(result.parsed) === undefined) add(result.parsed, now);
    },
    get: (id) => held.get(id)?.block,
    next(most, now) {
      dropOld(now);
      const next = findReady()
        .slice(0, most)
        .map((id) => held.get(id)!);
      const parents = new Set(next.flatMap((entry) => entry.parents).filter((id) => !held.has(id)));
      const due = [...lacks].filter(([, { looked }]) =>
        hasPassed(LOOK_AGAIN_AFTER_MS, looked, now),
      );
      due.sort(([, a], [, b]) => a.looked - b.looked);
      for (const [id] of due.slice(0, MAX_LOOKED_AGAIN)) parents.add(id);
      return { blocks: next.map(({ block }) => block), parents };
    },
    looked(parents, isKnown, now) {
      for (const id of parents) {
        if (isKnown(id)) lacks.delete(id);
        // not later than now, should the clock have been set back
        else lacks.set(id, { since: Math.min(lacks.get(id)?.since ?? now, now), looked: now });
      }
    },
    missing(since) {
      const missing = [...lacks].filter(([id, lack]) => lack.since <= since && !held.has(id));
      return missing.sort(([, a], [, b]) => a.since - b.since).map(([id]) => id);
    },
    remove(ids) {
      for (const id of ids) remove(id);
    },
    clear() {
      held.clear();
      lacks.clear();
      waiting.clear();
      newestWaiting = [];
      heapBytes = 0;
    },
    get heapBytes() {
      return heapBytes;
    },
    get size() {
      return held.size;
    },
  };
}
