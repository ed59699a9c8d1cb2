/**
 * The skeleton of a past cone: its blocks with their parents, without contents, in typed arrays.
 * 300,000 blocks take some 25 MB of heap, where parsed blocks would take hundreds.
 */
import { concatBytes } from '../../stardust/encoding/bytes.ts';
import { orderParentsFirst } from '../../stardust/white-flag/parents-first.ts';
import { IdMap } from '../core/id-map.ts';

/** IDs are hex digits. Blocks have indexes here, in the order in which they were met. */
export interface ConeSkeleton {
  /** How many blocks were met, those without parents here too. */
  readonly size: number;
  idAt(block: number): string;
  /** The IDs of these blocks, 32 bytes each, in a new array. */
  idBytes(blocks: Uint32Array): Uint8Array;
  /** Levels from a block down from the tops, or from where they were counted from 0 again. */
  levelOf(id: string): number;
  /** Counts the levels below this block from 0 again. */
  restartLevels(id: string): void;
  /** Notes the parents of a block, and so meets them. */
  setParents(id: string, parents: readonly string[]): void;
  /** The blocks whose parents were noted, in white-flag order. */
  order(): Uint32Array;
}

/** @param tops hex IDs of the blocks where the walk begins, in white-flag order */
export function createConeSkeleton(tops: Iterable<string>): ConeSkeleton {
  /** IDs with their levels. */
  const ids = new IdMap(32);
  /** Where a block's parents begin in `parents`, plus one; 0 where they were not noted. */
  let starts = new Int32Array(64);
  /** How many parents, and then their indexes. */
  let parents = new Int32Array(256);
  let used = 0;
  const meet = (id: string, level: number): number => {
    const met = ids.indexOf(id);
    return met >= 0 ? met : ids.set(id, level);
  };
  const roots = Array.from(tops, (id) => meet(id, 0));
  return {
    get size() {
      return ids.size;
    },
    idAt: (block) => ids.idAt(block),
    idBytes: (blocks) => concatBytes(...Array.from(blocks, (block) => ids.bytesAt(block))),
    levelOf: (id) => ids.get(id) ?? 0,
    restartLevels: (id) => void ids.set(id, 0),
    setParents(id, parentIds) {
      const block = meet(id, 0);
      const level = ids.numberAt(block) + 1;
      const indexes = parentIds.map((parent) => meet(parent, level));
      starts = withRoom(starts, ids.size);
      parents = withRoom(parents, used + indexes.length + 1);
      starts[block] = used + 1;
      parents[used++] = indexes.length;
      for (const index of indexes) parents[used++] = index;
    },
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
