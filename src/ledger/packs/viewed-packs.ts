/**
 * Where the blocks of a view are (consistent-view.ts), and which of them stay unreferenced.
 */
import { equalBytes } from '../../stardust/encoding/bytes.ts';
import { leafHash } from '../../stardust/proof/merkle.ts';
import { type Cone, inputsAt, outputsAt } from '../../stardust/white-flag/cone.ts';
import { NumberMap } from './number-map.ts';
import type { WalkedPack } from './pack-columns.ts';

/** A pack without its records, which are in the view's cone from position `first` on. */
export interface ViewedPack extends Omit<WalkedPack, 'records'> {
  first: number;
}

interface ConePacks {
  cone: Cone;
  packs: readonly ViewedPack[];
}

/** The pack that holds the block at this position of the cone, by its index in the view. */
export function packAt(packs: readonly ViewedPack[], position: number): number {
  let low = 0;
  let high = packs.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (packs[middle]!.first <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The keys of the packs that hold the blocks at these positions, each once. */
export function packsOf(packs: readonly ViewedPack[], positions: readonly number[]): number[] {
  return [...new Set(positions.map((position) => packs[packAt(packs, position)]!.key))];
}

/** Whether the cone has the block with this ID there. */
export function isBlockAt(cone: Cone, position: number, id: Uint8Array): boolean {
  const words = new Uint32Array(8);
  cone.copyLeaf(position, words, 0);
  return equalBytes(new Uint8Array(words.buffer), leafHash(id));
}

/** Whether the block at this place of a pack is unreferenced, as far as the packs were read. */
export function isUnreferencedIn(
  packs: readonly ViewedPack[],
): (key: number, at: number) => boolean {
  const statuses = new Map(packs.map((pack) => [pack.key, pack.statuses]));
  return (key, at) => {
    const of = statuses.get(key);
    return of !== undefined && at < of.size && of.milestoneAt(at) === 0;
  };
}

/**
 * How many blocks are unreferenced, and how many milestones reference.
 *
 * @param nextBlock blocks with numbers from this one on do not count
 * @param milestones the first one and the last one that count
 */
export function countBlocks(
  { cone, packs }: ConePacks,
  nextBlock: number,
  [from, until]: readonly [from: number, until: number],
): { unreferenced: number; referenced: number } {
  let unreferenced = 0;
  let referenced = 0;
  for (const { first, statuses } of packs) {
    for (let at = 0; at < statuses.size; at++) {
      const milestone = statuses.milestoneAt(at);
      if (milestone >= from && milestone <= until) referenced++;
      if (milestone === 0 && cone.numberAt(first + at) < nextBlock) unreferenced++;
    }
  }
  return { unreferenced, referenced };
}

/**
 * How many visible blocks are unreferenced and stay.
 *
 * @param leaves whether the unreferenced block at this position leaves
 */
export function countVisible(
  { packs }: Pick<ConePacks, 'packs'>,
  leaves: (position: number) => boolean,
): number {
  let count = 0;
  for (const { first, statuses, isStaged } of packs) {
    for (let at = 0; !isStaged && at < statuses.size; at++)
      if (statuses.milestoneAt(at) === 0 && !leaves(first + at)) count++;
  }
  return count;
}

/** The blocks that stay unreferenced. */
export interface LeftBlocks {
  hasBlock(number: number): boolean;
  /** Whether one of them mentions the output with this number. */
  mentions(output: number): boolean;
  /** The number of one that creates the output with this number; 0 where none does. */
  creatorOf(output: number): number;
}

/** In place of a position: no block that is left creates the output. */
const NOT_CREATED = -1;

/**
 * @param view of the ledger's next milestone
 * @param leaves whether the unreferenced block at this position leaves
 */
export function leftBlocks(
  { cone, packs }: ConePacks,
  leaves: (position: number) => boolean,
): LeftBlocks {
  const blocks = new NumberMap();
  /** The position of a block that creates each output. */
  const outputs = new NumberMap();
  for (const { first, statuses } of packs) {
    for (let at = 0; at < statuses.size; at++) {
      const position = first + at;
      if (statuses.milestoneAt(at) !== 0 || leaves(position)) continue;
      blocks.set(cone.numberAt(position), 1);
      for (const output of inputsAt(cone, position))
        if (!outputs.has(output)) outputs.set(output, NOT_CREATED);
      for (const output of outputsAt(cone, position)) outputs.set(output, position);
    }
  }
  return {
    hasBlock: (block) => blocks.has(block),
    mentions: (output) => outputs.has(output),
    creatorOf(output) {
      const position = outputs.get(output) ?? NOT_CREATED;
      return position === NOT_CREATED ? 0 : cone.numberAt(position);
    },
  };
}
