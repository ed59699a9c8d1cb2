/**
 * The packs of a view (view/consistent-view.ts): where its blocks are, and which of them are
 * unreferenced. A block's *position* is its place in the view's cone, over all packs.
 */
import { equalBytes } from '../../stardust/encoding/bytes.ts';
import { leafHash } from '../../stardust/proof/merkle.ts';
import { type Cone, inputsAt, outputsAt } from '../../stardust/white-flag/cone.ts';
import type { KnownBlock } from '../core/id-index.ts';
import { NumberMap } from './number-map.ts';
import type { WalkedPack } from './pack-columns.ts';
import type { BlockPlace } from './places.ts';

/** A pack without its records, which are in the view's cone from position `first` on. */
export interface ViewedPack extends Omit<WalkedPack, 'records'> {
  first: number;
}

interface ConePacks {
  cone: Cone;
  packs: readonly ViewedPack[];
}

/** The pack that holds the block at this position. */
export function packAt(packs: readonly ViewedPack[], position: number): ViewedPack {
  let low = 0;
  let high = packs.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (packs[middle]!.first <= position) low = middle;
    else high = middle - 1;
  }
  return packs[low]!;
}

/** The keys of the packs that hold the blocks at these positions, each once. */
export const packsOf = (packs: readonly ViewedPack[], positions: Iterable<number>): number[] => [
  ...new Set(Array.from(positions, (position) => packAt(packs, position).key)),
];

/** The numbers of the blocks at these positions, by the keys of their packs. */
export const numbersByPack = (
  { cone, packs }: ConePacks,
  positions: readonly number[],
): [pack: number, blocks: number[]][] =>
  [...Map.groupBy(positions, (position) => packAt(packs, position).key)].map(([key, some]) => [
    key,
    some.map(cone.numberAt),
  ]);

/** The places of the blocks at these positions, one by one: there may be 300,000. */
export function* placesOf(
  packs: readonly ViewedPack[],
  positions: Iterable<number>,
): Generator<BlockPlace> {
  for (const position of positions) {
    const { key, first } = packAt(packs, position);
    yield [key, position - first];
  }
}

/** Whether the cone has the block with this ID there. */
export function isBlockAt(cone: Cone, position: number, id: Uint8Array): boolean {
  const words = new Uint32Array(8);
  cone.copyLeaf(position, words, 0);
  return equalBytes(new Uint8Array(words.buffer), leafHash(id));
}

/**
 * The blocks with these hex IDs among those of the cone that are not excluded, as blocks that no
 * milestone references. They are found by their Merkle leaves, which are hashes of the IDs: so
 * nothing has to be read but the records.
 */
export function findInCone(cone: Cone, ids: Iterable<string>): Map<string, KnownBlock> {
  const found = new Map<string, KnownBlock>();
  /** Wanted blocks by the first word of the leaf. */
  const wanted = new Map<number, { id: string; leaf: Uint8Array }[]>();
  for (const id of ids) {
    const leaf = leafHash(Uint8Array.fromHex(id));
    const first = new DataView(leaf.buffer).getUint32(0, true);
    const same = wanted.get(first);
    if (same === undefined) wanted.set(first, [{ id, leaf }]);
    else same.push({ id, leaf });
  }
  if (wanted.size === 0) return found;
  const words = new Uint32Array(8);
  for (let position = 0; position < cone.size; position++) {
    cone.copyLeaf(position, words, 0);
    for (const { id, leaf } of wanted.get(words[0]!) ?? []) {
      const number = cone.numberAt(position);
      if (equalBytes(new Uint8Array(words.buffer), leaf) && cone.find(number) >= 0)
        found.set(id, { number, milestone: null });
    }
  }
  return found;
}

/**
 * Positions of the staged blocks that have a parent without a number: an entry point, or a block
 * where an upstream ended the walk (follower/store/store-cone.ts).
 */
export function stagedRoots({ cone, packs }: ConePacks): number[] {
  const roots: number[] = [];
  for (const { isStaged, first, statuses } of packs) {
    for (let at = first; isStaged && at < first + statuses.size; at++) {
      const parents = Array.from({ length: cone.parentCountAt(at) }, (_, i) =>
        cone.parentAt(at, i),
      );
      if (parents.includes(0)) roots.push(at);
    }
  }
  return roots;
}

/** Calls `visit` for each block of the packs. `milestone`: which references it, 0 for none. */
export function visitBlocks<P extends ViewedPack>(
  packs: readonly P[],
  visit: (position: number, milestone: number, pack: P, at: number) => void,
): void {
  for (const pack of packs) {
    const { first, statuses } = pack;
    const { size } = statuses;
    for (let at = 0; at < size; at++) visit(first + at, statuses.milestoneAt(at), pack, at);
  }
}

/**
 * Counts unreferenced blocks, and blocks that milestones reference.
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
  visitBlocks(packs, (position, milestone) => {
    if (milestone >= from && milestone <= until) referenced++;
    if (milestone === 0 && cone.numberAt(position) < nextBlock) unreferenced++;
  });
  return { unreferenced, referenced };
}

/** Positions of the visible unreferenced blocks, by their numbers, ascending. */
export function visiblePositions({ cone, packs }: ConePacks): number[] {
  const positions: number[] = [];
  visitBlocks(packs, (position, milestone, { isStaged }) => {
    if (milestone === 0 && !isStaged) positions.push(position);
  });
  return positions.sort((a, b) => cone.numberAt(a) - cone.numberAt(b));
}

/**
 * Counts the visible blocks that are unreferenced and stay.
 *
 * @param leaves whether the unreferenced block at this position leaves
 */
export function countVisible(
  { packs }: Pick<ConePacks, 'packs'>,
  leaves: (position: number) => boolean,
): number {
  let count = 0;
  visitBlocks(packs, (position, milestone, { isStaged }) => {
    if (milestone === 0 && !isStaged && !leaves(position)) count++;
  });
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

/** Stands for a position: no block that stays creates the output. */
const NOT_CREATED = -1;

/**
 * @param view view of the ledger's next milestone
 * @param leaves whether the unreferenced block at this position leaves
 */
export function leftBlocks(
  { cone, packs }: ConePacks,
  leaves: (position: number) => boolean,
): LeftBlocks {
  const blocks = new NumberMap();
  /** The position of a block that creates each output. */
  const outputs = new NumberMap();
  visitBlocks(packs, (position, milestone) => {
    if (milestone !== 0 || leaves(position)) return;
    blocks.set(cone.numberAt(position), 1);
    for (const output of inputsAt(cone, position))
      if (!outputs.has(output)) outputs.set(output, NOT_CREATED);
    for (const output of outputsAt(cone, position)) outputs.set(output, position);
  });
  return {
    hasBlock: (block) => blocks.has(block),
    mentions: (output) => outputs.has(output),
    creatorOf(output) {
      const position = outputs.get(output) ?? NOT_CREATED;
      return position === NOT_CREATED ? 0 : cone.numberAt(position);
    },
  };
}
