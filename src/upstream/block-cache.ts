/**
 * Parsed blocks that were fetched and are not stored yet, kept in memory with an account of the
 * heap that they take. A block's content is fixed by its ID, so what is cached never becomes wrong.
 */
import { type ParsedBlock, parseBlock } from '../stardust/wire/block.ts';

/** Values by the 64 hex digits of a block. */
interface ById<Value> {
  get(id: string): Value | undefined;
  set(id: string, value: Value): void;
  delete(id: string): void;
}

export type BlockCache = ById<ParsedBlock>;

/**
 * What is remembered of one ledger, named by its generation (src/ledger/core/head.ts), as of a
 * ledger index.
 */
type LedgerMemory<Value> = (generation: string, ledger: number) => ById<Value>;

/** IDs of blocks, 64 hex digits each. */
export interface BlockIds {
  has(id: string): boolean;
  add(id: string): void;
}

/**
 * Milestones after which nothing is remembered any more. D1 keeps a block's ID at least four times
 * as long (src/ledger/write/prune.ts).
 */
const MAX_AGE_MILESTONES = 35;

/** The heap of a parsed block without its bytes, measured. */
const BLOCK_OVERHEAD_BYTES = 1000;

/** A parsed transaction's objects take so many times its bytes, measured. Data stays as it came. */
const TRANSACTION_HEAP_FACTOR = 10;

/** The heap of an ID in a map. */
const ID_HEAP_BYTES = 160;

export interface FetchedCache extends BlockCache {
  clear(): void;
}

/** Bytes of heap. */
export interface FetchedLimits {
  /**
   * For parsed blocks; beyond it, only the bytes of the oldest are kept, which are parsed again.
   */
  parsed: number;
  /** For bytes; beyond it the oldest blocks are evicted. */
  raw: number;
}

const FETCHED_LIMITS: FetchedLimits = { parsed: 16_000_000, raw: 12_000_000 };

/** The heap of a block's ID, its place in the map and its array. */
const RAW_OVERHEAD_BYTES = 400;

/**
 * Blocks that were fetched and are not stored yet. Of many, the oldest are kept as bytes: parsed, a
 * transaction takes ten times as much. A block that was evicted has to be fetched again.
 */
export function createFetchedCache({ parsed, raw }: FetchedLimits = FETCHED_LIMITS): FetchedCache {
  const parsedBlocks = createMeasuredMap<ParsedBlock>(heapOf, parsed, 'evict');
  const bytesOf = createMeasuredMap<Uint8Array>(
    (bytes) => RAW_OVERHEAD_BYTES + bytes.length,
    raw,
    'evict',
  );
  return {
    get(id) {
      const block = parsedBlocks.get(id);
      if (block !== undefined) return block;
      const bytes = bytesOf.get(id);
      return bytes && parseAgain(bytes);
    },
    set(id, block) {
      parsedBlocks.set(id, block);
      bytesOf.set(id, block.bytes);
    },
    delete(id) {
      parsedBlocks.delete(id);
      bytesOf.delete(id);
    },
    clear() {
      parsedBlocks.clear();
      bytesOf.clear();
    },
  };
}

function parseAgain(bytes: Uint8Array): ParsedBlock {
  const result = parseBlock(bytes);
  if (!result.ok) throw new Error(`a block that was parsed before breaks ${result.reason}`);
  return result.parsed;
}

/**
 * IDs of the blocks of a ledger that an upstream called unreferenced, so that it is not asked
 * again.
 *
 * What is kept stays true. When upstream was asked, no milestone up to the ledger's index
 * referenced the block. A later milestone that does is applied with the block: from then on D1
 * knows it, and keeps its ID for long. Only an import may leave the block out, so a new generation
 * clears all.
 *
 * @param maxHeapBytes before the cache would take more, it is cleared
 */
export function createUnreferencedIdCache(
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
 * Old ones are forgotten as unreferenced ones are: a walk goes through all that is remembered.
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

/**
 * A map that adds up the heap of its values. Before it would exceed the limit it is cleared, or its
 * oldest values are evicted.
 */
function createMeasuredMap<Value>(
  heapOfValue: (value: Value) => number,
  maxHeapBytes: number,
  whenFull: 'clear' | 'evict' = 'clear',
) {
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
  const makeRoom = (heap: number): void => {
    if (heapBytes + heap <= maxHeapBytes) return;
    if (whenFull === 'clear') clear();
    for (const id of values.keys()) {
      if (heapBytes + heap <= maxHeapBytes) break;
      remove(id);
    }
  };
  return {
    get: (id: string): Value | undefined => values.get(id),
    set(id: string, value: Value): void {
      remove(id);
      const heap = heapOfValue(value);
      makeRoom(heap);
      values.set(id, value);
      heapBytes += heap;
    },
    delete: remove,
    clear,
  };
}
