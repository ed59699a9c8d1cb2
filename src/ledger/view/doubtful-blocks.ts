/**
 * Blocks of a milestone's past cone that an earlier milestone may have referenced, before the
 * import or so long ago that its IDs were dropped (docs/architecture.md#the-trap): nothing here can
 * tell, and they are called *doubtful*. Parents prove the others unreferenced
 * (prove-unreferenced.ts): a block that this ledger saw referenced has a number, and an entry point
 * has none.
 *
 * Each parent of a doubtful block is an entry point or doubtful itself. A block is never referenced
 * before its parents, so "referenced" holds for all doubtful blocks in its past, and "not
 * referenced" for all doubtful blocks that have it in their past. Only the border between is in
 * question. Going down from the highest blocks would cost an answer for each that is not
 * referenced, going up from the lowest one for each that is; both may be thousands. So chains of
 * undecided blocks are bisected: the middle block of each chain is queried, and the answer decides
 * at least half of the chain. A chain of n blocks takes log2(n) answers, and a round decides as
 * many chains as are queried at once.
 */
import type { Cone } from '../../stardust/white-flag/cone.ts';
import { LedgerDamaged } from '../core/checksum.ts';
import type { Database } from '../core/database.ts';
import { readQuery } from '../core/read-batch.ts';
import { readBlockRows } from '../packs/id-rows.ts';
import { selectAt } from '../packs/places.ts';
import { isBlockAt, placesOf } from '../packs/viewed-packs.ts';
import type { ConsistentView } from './consistent-view.ts';

type Parents = Pick<Cone, 'size' | 'find' | 'parentCountAt' | 'parentAt'>;

const UNDECIDED = 0;
const UNREFERENCED = 1;
const REFERENCED = 2;

/** @param order positions in the cone, parents first */
export function findDoubtful(cone: Parents, order: Uint32Array) {
  const { positions, parentsOf } = collectDoubtful(cone, order);
  const states = new Uint8Array(positions.length);

  /** Counts the undecided blocks of the longest chain down from each undecided block; else 0. */
  function chainLengths(): Uint32Array {
    const lengths = new Uint32Array(positions.length);
    for (let block = 0; block < positions.length; block++) {
      if (states[block] !== UNDECIDED) continue;
      for (const parent of parentsOf(block))
        lengths[block] = Math.max(lengths[block]!, lengths[parent]!);
      lengths[block]!++;
    }
    return lengths;
  }

  return {
    /** Undecided blocks whose answers decide most others: one at least, unless all are decided. */
    toQuery(most: number) {
      const lengths = chainLengths();
      const middles: number[] = [];
      for (let top = positions.length - 1; top >= 0 && middles.length < most; top--) {
        const chain: number[] = [];
        for (let block = top; lengths[block]! > 0; ) {
          chain.push(block);
          // a block is in one chain
          lengths[block] = 0;
          for (const parent of parentsOf(block))
            if (lengths[parent]! > lengths[block]!) block = parent;
        }
        if (chain.length > 0) middles.push(positions[chain[(chain.length - 1) >> 1]!]!);
      }
      return middles;
    },
    /** Notes whether an upstream called blocks referenced, and decides what follows from it. */
    note(answers: ReadonlyMap<number, boolean>) {
      for (let block = 0; block < positions.length; block++) {
        const answer = answers.get(positions[block]!);
        if (answer !== undefined) states[block] = answer ? REFERENCED : UNREFERENCED;
        else if (states[block] === UNDECIDED)
          for (const parent of parentsOf(block))
            if (states[parent] === UNREFERENCED) states[block] = UNREFERENCED;
      }
      for (let block = positions.length - 1; block >= 0; block--) {
        if (states[block] !== REFERENCED) continue;
        for (const parent of parentsOf(block))
          if (states[parent] === UNDECIDED) states[parent] = REFERENCED;
      }
    },
    /** The blocks that are decided to be referenced. */
    referenced: () => positions.filter((_, block) => states[block] === REFERENCED),
  };
}

/** The doubtful blocks, parents first, and their parents among them: indexes of `positions`. */
function collectDoubtful(cone: Parents, order: Uint32Array) {
  const positions: number[] = [];
  const starts: number[] = [0];
  const parents: number[] = [];
  /** Index of a doubtful block, by position. */
  const indexes = new Int32Array(cone.size).fill(-1);
  for (const position of order) {
    let isDoubtful = true;
    for (let at = 0; isDoubtful && at < cone.parentCountAt(position); at++) {
      const number = cone.parentAt(position, at);
      // an entry point
      if (number === 0) continue;
      const parent = cone.find(number);
      // one that is not in the cone was seen referenced
      const index = parent < 0 ? -1 : indexes[parent]!;
      if (index < 0) isDoubtful = false;
      else parents.push(index);
    }
    if (!isDoubtful) {
      parents.length = starts.at(-1)!;
      continue;
    }
    indexes[position] = positions.length;
    positions.push(position);
    starts.push(parents.length);
  }
  const links = Uint32Array.from(parents);
  const parentsOf = (block: number) => links.subarray(starts[block]!, starts[block + 1]!);
  return { positions, parentsOf };
}

/** Hex IDs of the blocks at these positions of the view's cone, by position. */
export async function readBlockIds(
  db: Database,
  { cone, packs }: Pick<ConsistentView, 'cone' | 'packs'>,
  positions: readonly number[],
): Promise<Map<number, string>> {
  const query = selectAt(db, 'blocks', placesOf(packs, positions), (row) => {
    const [[number, id] = [0, '']] = readBlockRows(`[${row.text('value')}]`);
    return [cone.find(number), id] as const;
  });
  const ids = new Map(await readQuery(db, query));
  for (const position of positions) {
    const id = ids.get(position);
    if (id === undefined || !isBlockAt(cone, position, Uint8Array.fromHex(id)))
      throw new LedgerDamaged(`the ID of block number ${cone.numberAt(position)}`);
  }
  return ids;
}
