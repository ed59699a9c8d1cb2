/**
 * Blocks of a milestone's past cone that an earlier milestone may have referenced, before the import
 * or so long ago that its IDs were dropped (docs/architecture.md#the-trap). Nothing here can tell:
 * such a block is *doubtful*. The others are proven unreferenced by their parents, as in
 * prove-unreferenced.ts: a block that this ledger saw referenced has a number, and an entry point
 * has none.
 *
 * A block is never referenced before its parents. So what was referenced earlier is at the bottom of
 * the cone, and only the lowest doubtful blocks are in question at a time.
 */
import type { Cone } from '../../stardust/white-flag/cone.ts';
import { LedgerDamaged } from '../core/checksum.ts';
import { type Database, forEachPiece } from '../core/database.ts';
import { readBlockRows } from '../core/packs/block-rows.ts';
import { many, readQuery } from '../core/read-batch.ts';
import type { NumberMap } from '../record/number-map.ts';
import type { ConsistentView } from './consistent-view.ts';
import { isBlockAt, packAt } from './viewed-packs.ts';

/** What an upstream said of a block, by the block's number. */
export const SaidOfBlock = { Unreferenced: 1, Referenced: 2 } as const;

export interface DoubtfulBlocks {
  /** Positions in the cone of blocks that earlier milestones reference, by what was said so far. */
  leftOut: Set<number>;
  /** Positions of the lowest doubtful blocks of which nothing was said. */
  unsaid: number[];
}

/** States of positions while they are gone through. */
const PROVEN = 0;
const KEPT = 1;
const LEFT_OUT = 2;

/** @param order positions in the cone, parents first */
export function findDoubtful(cone: Cone, order: Uint32Array, said: NumberMap): DoubtfulBlocks {
  const states = new Uint8Array(cone.size);
  const leftOut = new Set<number>();
  const unsaid: number[] = [];
  for (const position of order) {
    let isDoubtful = true;
    let isLowest = true;
    for (let at = 0; isDoubtful && at < cone.parentCountAt(position); at++) {
      const number = cone.parentAt(position, at);
      // an entry point
      if (number === 0) continue;
      const parent = cone.find(number);
      if (parent < 0 || states[parent] === PROVEN) isDoubtful = false;
      else if (states[parent] === KEPT) isLowest = false;
    }
    if (!isDoubtful) continue;
    const word = isLowest ? said.get(cone.numberAt(position)) : SaidOfBlock.Unreferenced;
    states[position] = word === SaidOfBlock.Referenced ? LEFT_OUT : KEPT;
    if (word === undefined) unsaid.push(position);
    if (word === SaidOfBlock.Referenced) leftOut.add(position);
  }
  return { leftOut, unsaid };
}

/** ?1 rows of pack and place. */
const SELECT_ROWS = `
  WITH named AS MATERIALIZED (SELECT value ->> 0 AS pack, value ->> 1 AS at FROM json_each(?1))
  SELECT b.value AS block FROM pack p CROSS JOIN json_each(p.blocks) b
  WHERE p.key IN (SELECT pack FROM named) AND (p.key, b.key) IN (SELECT pack, at FROM named)`;

/** Hex IDs of the blocks at these positions of the view's cone, by position. */
export async function readBlockIds(
  db: Database,
  { cone, packs }: Pick<ConsistentView, 'cone' | 'packs'>,
  positions: readonly number[],
): Promise<Map<number, string>> {
  const query = many(forEachPiece(db, SELECT_ROWS, placesOf(packs, positions)), (row) => {
    const [[number, id] = [0, '']] = readBlockRows(`[${row.text('block')}]`);
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

/** The packs that hold the blocks at these positions, and their places there. */
export function placesOf(
  packs: ConsistentView['packs'],
  positions: Iterable<number>,
): [pack: number, at: number][] {
  return Array.from(positions, (position) => {
    const { key, first } = packs[packAt(packs, position)]!;
    return [key, position - first];
  });
}
