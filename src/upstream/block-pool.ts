/**
 * The pool: blocks that are not in D1 yet, pushed by a feed or fetched. Users of blocks look here
 * first (src/follower/store/gather-blocks.ts), and storing a block takes it out. It is bounded by
 * heap, and the oldest blocks are evicted; they are fetched again when something leads to them.
 */
import { createBoundedMap } from '../platform/bounded-map.ts';
import { toHexDigits } from '../stardust/encoding/bytes.ts';
import { type ParsedBlock, parseBlock } from '../stardust/wire/block.ts';

/** Blocks by their 64 hex digits. */
export interface BlockPool {
  get(id: string): ParsedBlock | undefined;
  set(id: string, block: ParsedBlock): void;
  delete(id: string): void;
  /**
   * Keeps a block that nobody requested, if its bytes parse and it is admitted. Such blocks come in
   * any order.
   *
   * @param now Unix milliseconds
   */
  push(bytes: Uint8Array, now: number): void;
  /** Returns the pushed blocks that are to be stored, and when they came; the oldest first. */
  pushed(most?: number): [id: string, came: number][];
  /** Whether the block was pushed and is to be stored. */
  isPushed(id: string): boolean;
  /** A pushed block is not to be stored by itself any more, and counts as a fetched one. */
  settle(id: string): void;
  clear(): void;
}

/** `came` is set as long as the block is one that was pushed. */
interface Pooled {
  block: ParsedBlock;
  came?: number | undefined;
}

/** The heap of a parsed block without its bytes, and of the ID of each parent, measured. */
const BLOCK_BYTES = 1000;
const PARENT_BYTES = 330;

/**
 * Heap of a parsed block by its payload, as a measured multiple of its bytes: signatures of a
 * milestone 4, funds of a receipt 5. Data stays as it came.
 */
const TRANSACTION_FACTOR = 10;
const MILESTONE_FACTOR = 6;

export function heapOf({ bytes, block, transaction, milestone }: ParsedBlock): number {
  const factor = transaction ? TRANSACTION_FACTOR : milestone ? MILESTONE_FACTOR : 1;
  return BLOCK_BYTES + PARENT_BYTES * block.parents.length + factor * bytes.length;
}

/**
 * Creates a pool. Reading does not make a block recent: walks fetch children first and storing
 * reads parents first, so each refetched block would evict the next one to be read.
 *
 * @param isAdmitted whether a node would store the block though nobody requested it
 * @param mostNow heap where others take some; absent: all
 */
export function createBlockPool(
  maxHeapBytes: number,
  isAdmitted: (block: ParsedBlock) => boolean,
  mostNow = () => maxHeapBytes,
): BlockPool {
  const pooled = createBoundedMap<Pooled>(maxHeapBytes, (_, { block }) => heapOf(block), mostNow);
  return {
    get: (id) => pooled.peek(id)?.block,
    set(id, block) {
      if (pooled.peek(id) === undefined) pooled.set(id, { block });
    },
    delete: pooled.delete,
    push(bytes, now) {
      const result = parseBlock(bytes);
      if (!result.ok) return;
      const id = toHexDigits(result.parsed.id);
      if (pooled.peek(id) !== undefined || !isAdmitted(result.parsed)) return;
      pooled.set(id, { block: result.parsed, came: now });
    },
    pushed(most = Number.POSITIVE_INFINITY) {
      const found: [string, number][] = [];
      for (const [id, { came }] of pooled.entries()) {
        if (found.length === most) break;
        if (came !== undefined) found.push([id, came]);
      }
      return found;
    },
    isPushed: (id) => pooled.peek(id)?.came !== undefined,
    settle(id) {
      const held = pooled.peek(id);
      if (held !== undefined) held.came = undefined;
    },
    clear: pooled.clear,
  };
}
