/**
 * Parsed blocks that were fetched and are not stored yet, kept in memory with an account of the
 * heap that they take. A block's content is fixed by its ID, so what is cached never becomes wrong.
 */
import type { ParsedBlock } from '../stardust/block.ts';

/** Values by the 64 hex digits of a block. */
interface ById<Value> {
  get(id: string): Value | undefined;
  set(id: string, value: Value): void;
  delete(id: string): void;
}

export type BlockCache = ById<ParsedBlock>;

/** A cache that knows how much it holds. */
export interface MeasuredBlockCache extends BlockCache {
  /** Blocks. */
  readonly size: number;
  readonly heapBytes: number;
  /** By hex ID, those that came first at the front. */
  entries(): Iterable<[string, ParsedBlock]>;
  clear(): void;
}

/**
 * What is remembered of one ledger, named by its generation (src/ledger/head.ts), as of a ledger
 * index.
 */
type LedgerMemory<Value> = (generation: string, ledger: number) => ById<Value>;

/** The open blocks of a ledger: those that no milestone up to the ledger index references. */
export type OpenBlockCache = LedgerMemory<ParsedBlock>;

/** IDs of blocks, 64 hex digits each. */
export interface BlockIds {
  has(id: string): boolean;
  add(id: string): void;
}

/**
 * Milestones after which nothing is remembered any more. D1 keeps a block's ID at least four times
 * as long (src/ledger/prune.ts).
 */
const MAX_AGE_MILESTONES = 35;

/** The heap of a parsed block without its bytes, measured. */
const BLOCK_OVERHEAD_BYTES = 1000;

/** A parsed transaction's objects take so many times its bytes, measured. Data stays as it came. */
const TRANSACTION_HEAP_FACTOR = 10;

/** The heap of an ID in a map. */
const ID_HEAP_BYTES = 160;

/** A cache without a limit: whoever fills it looks at what it holds. */
export function createBlockCache(): MeasuredBlockCache {
  return createMeasuredMap<ParsedBlock>(heapOf, Number.POSITIVE_INFINITY);
}

/**
 * A cache of open blocks, so that the next question about the same tips fetches less.
 *
 * What is remembered stays true. When a block was fetched, no milestone up to the ledger's index
 * referenced it. A later milestone that does is applied with the block: from then on D1 knows the
 * block, and keeps its ID for long. Only an import may leave the block out, so a new generation
 * forgets everything.
 *
 * @param maxHeapBytes before the cache would take more, everything is forgotten
 */
export function createOpenBlockCache(maxHeapBytes: number): OpenBlockCache {
  return createLedgerMemory(heapOf, maxHeapBytes);
}

/** The same of IDs alone: who has asked about a block need not ask again. */
export function createOpenIdCache(
  maxHeapBytes: number,
): (generation: string, ledger: number) => BlockIds {
  const memory = createLedgerMemory<true>(() => ID_HEAP_BYTES, maxHeapBytes);
  return (generation, ledger) => {
    const ids = memory(generation, ledger);
    return { has: (id) => ids.get(id) !== undefined, add: (id) => ids.set(id, true) };
  };
}

/**
 * Blocks of one ledger of which nothing is known but their content, which is fixed by their IDs.
 * Old ones are forgotten as open ones are: a walk goes through all that is remembered.
 */
export function createRecentBlockCache(
  maxHeapBytes: number,
): (generation: string, ledger: number) => BlockCache {
  return createLedgerMemory(heapOf, maxHeapBytes);
}

function createLedgerMemory<Value>(
  heapOfValue: (value: Value) => number,
  maxHeapBytes: number,
): LedgerMemory<Value> {
  const kept = createMeasuredMap<{ value: Value; ledger: number }>(
    ({ value }) => heapOfValue(value),
    maxHeapBytes,
  );
  let owner: string | undefined;
  return (generation, ledger) => {
    if (generation !== owner) kept.clear();
    owner = generation;
    return {
      get(id) {
        const found = generation === owner ? kept.get(id) : undefined;
        if (found === undefined || ledger - found.ledger <= MAX_AGE_MILESTONES) return found?.value;
        kept.delete(id);
        return undefined;
      },
      set(id, value) {
        // a request that outlives its ledger knows nothing about the one that replaced it
        if (generation === owner) kept.set(id, { value, ledger });
      },
      delete(id) {
        if (generation === owner) kept.delete(id);
      },
    };
  };
}

export function heapOf({ bytes, transaction }: ParsedBlock): number {
  const factor = transaction === undefined ? 1 : TRANSACTION_HEAP_FACTOR;
  return BLOCK_OVERHEAD_BYTES + factor * bytes.length;
}

/** A map that adds up the heap of its values, and is emptied before it would exceed the limit. */
function createMeasuredMap<Value>(heapOfValue: (value: Value) => number, maxHeapBytes: number) {
  const values = new Map<string, Value>();
  let heapBytes = 0;
  const clear = (): void => {
    values.clear();
    heapBytes = 0;
  };
  const remove = (id: string): void => {
    const value = values.get(id);
    if (value === undefined) return;
    values.delete(id);
    heapBytes -= heapOfValue(value);
  };
  return {
    get size() {
      return values.size;
    },
    get heapBytes() {
      return heapBytes;
    },
    get: (id: string): Value | undefined => values.get(id),
    set(id: string, value: Value): void {
      remove(id);
      const heap = heapOfValue(value);
      if (heapBytes + heap > maxHeapBytes) clear();
      values.set(id, value);
      heapBytes += heap;
    },
    delete: remove,
    entries: () => values.entries(),
    clear,
  };
}
