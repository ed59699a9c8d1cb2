/**
 * The skeleton of a past cone: its blocks with their parents, without contents, in typed arrays.
 * 300,000 blocks take some 25 MB of heap, where parsed blocks would take hundreds. A walk fills it
 * from some blocks down to those that the ledger knows, breadth first.
 */
import { concatBytes, toHexDigits } from '../../stardust/encoding/bytes.ts';
import { orderParentsFirst } from '../../stardust/white-flag/walk.ts';
import type { ParsedBlock } from '../../stardust/wire/block.ts';
import { IdMap } from '../core/id-map.ts';

export type ConeSkeleton = ReturnType<typeof createConeSkeleton>;

/**
 * IDs are hex digits. Blocks have indexes here, in the order in which they were met.
 *
 * @param tops hex IDs of the blocks where the walk begins, in white-flag order
 */
export function createConeSkeleton(tops: Iterable<string>) {
  /** IDs with their levels. */
  const ids = new IdMap(32);
  // arrays begin small, so that each walk makes them grow
  /** Where a block's parents begin in `parents`, plus one; 0 where they were not noted. */
  let starts = new Int32Array(1);
  /** How many parents, and then their indexes. */
  let parents = new Int32Array(1);
  let used = 0;
  const meet = (id: string, level: number): number => {
    const met = ids.indexOf(id);
    return met >= 0 ? met : ids.set(id, level);
  };
  const roots = Array.from(tops, (id) => meet(id, 0));
  const isNoted = (block: number) => (starts[block] ?? 0) > 0;
  return {
    /** Whether the parents of a block were noted. */
    isNoted,
    /** How many blocks were met, those without parents here too. */
    get size() {
      return ids.size;
    },
    idAt: (block: number) => ids.idAt(block),
    /** The IDs of these blocks, 32 bytes each, in a new array. */
    idBytes: (blocks: Uint32Array) =>
      concatBytes(...Array.from(blocks, (block) => ids.bytesAt(block))),
    /** Levels from a block down from the tops, or from where they were counted from 0 again. */
    levelOf: (id: string) => ids.get(id) ?? 0,
    /** Counts the levels below this block from 0 again. */
    restartLevels: (id: string) => void ids.set(id, 0),
    /** Notes the parents of a block, and so meets them. */
    setParents(id: string, parentIds: readonly string[]) {
      const block = meet(id, 0);
      if (isNoted(block)) return;
      const level = ids.numberAt(block) + 1;
      const indexes = parentIds.map((parent) => meet(parent, level));
      starts = withRoom(starts, ids.size);
      parents = withRoom(parents, used + indexes.length + 1);
      starts[block] = used + 1;
      parents[used++] = indexes.length;
      for (const index of indexes) parents[used++] = index;
    },
    /** The blocks whose parents were noted, in white-flag order. */
    order() {
      starts = withRoom(starts, ids.size);
      const known = (block: number) => (starts[block] === 0 ? -1 : block);
      return orderParentsFirst(roots.map(known), {
        size: ids.size,
        parentCountAt: (block) => parents[starts[block]! - 1]!,
        parentAt: (block, parent) => known(parents[starts[block]! + parent]!),
      });
    },
  };
}

function withRoom(array: Int32Array<ArrayBuffer>, size: number): Int32Array<ArrayBuffer> {
  if (size <= array.length) return array;
  const larger = new Int32Array(Math.max(size, 2 * array.length));
  larger.set(array);
  return larger;
}

/** IDs are hex digits. */
export interface WalkTools {
  /** Returns a block that is at hand: it is not looked up, however many levels deep. */
  recall?: ((id: string) => ParsedBlock | undefined) | undefined;
  /** Returns the blocks at which the walk ends. */
  findKnown(ids: readonly string[]): Promise<{ has(id: string): boolean }>;
  /** Returns the blocks below which the walk goes on. */
  fetch(ids: readonly string[]): Promise<readonly ParsedBlock[]>;
  /** Called with each block that is not known. */
  meet?: (id: string, block: ParsedBlock) => void;
}

/** Blocks in one go, in memory together: 480 transactions of 31 KB took 86 MB, 128 take 24. */
export const WALKED_AT_ONCE = 128;

/**
 * Notes in the skeleton what is below its blocks. If a tool throws, the walk can be continued.
 *
 * @param walked number of blocks of the skeleton that an earlier walk has come to
 * @param progress called with that number after each go
 */
export async function walkDown(
  skeleton: ConeSkeleton,
  { recall, findKnown, fetch, meet }: WalkTools,
  walked = 0,
  progress: (walked: number) => void = () => {},
): Promise<void> {
  const enter = (id: string, block: ParsedBlock) => {
    meet?.(id, block);
    skeleton.setParents(id, block.block.parents.map(toHexDigits));
  };
  for (let at = walked; at < skeleton.size; progress(at)) {
    const missing: string[] = [];
    for (; at < skeleton.size && missing.length < WALKED_AT_ONCE; at++) {
      if (skeleton.isNoted(at)) continue;
      const id = skeleton.idAt(at);
      const block = recall?.(id);
      if (block === undefined) missing.push(id);
      else enter(id, block);
    }
    const known = await findKnown(missing);
    const unknown = missing.filter((id) => !known.has(id));
    for (const block of await fetch(unknown)) enter(toHexDigits(block.id), block);
  }
}
