/**
 * Drops unreferenced blocks: orphans, which are too old to be referenced any more, and, if there
 * are too many, blocks that no honest tip needs (docs/storage.md#dropping-blocks).
 *
 * A block is dropped with all its unreferenced descendants: a missing parent is taken for a
 * referenced one, so a child left behind would be answered for without its past. The youngest are
 * dropped first, so that this holds after every step, and only if nothing was stored or applied
 * since they were chosen. Writers that store a child or apply a milestone meanwhile find the
 * unreferenced blocks changed (store-blocks.ts).
 */
import type { ParameterTable } from '../../stardust/parameter-table.ts';
import type { Cone } from '../../stardust/white-flag/cone.ts';
import type { ParsedBlock } from '../../stardust/wire/block.ts';
import type { Database } from '../core/database.ts';
import { LedgerMoved, runFenced } from '../core/fence.ts';
import { type Head, readHead, selectHead } from '../core/head.ts';
import { parametersAt, selectParameters } from '../core/ledger-parameters.ts';
import { readBatch, write } from '../core/read-batch.ts';
import { moveHead } from '../core/write-head.ts';
import { type LiveExtent, selectExtent } from '../packs/live-packs.ts';
import { nextNumbers, requireSameUnreferenced, selectGiven } from '../packs/next-numbers.ts';
import { leftBlocks, packAt, visiblePositions, visitBlocks } from '../packs/viewed-packs.ts';
import { deleteStaged, dropFromPacks } from '../packs/write-pack.ts';
import { type ConsistentView, readView } from '../view/consistent-view.ts';
import type { UnreferencedIndex } from './unreferenced-index.ts';

/** Milestones beyond below-max-depth for which an unreferenced block is kept. */
const ORPHAN_MARGIN_MILESTONES = 10;

/**
 * Limits beyond which blocks that no upstream's tip needs are evicted: of bytes, and of blocks and
 * mentions together, as both take heap (unreferenced-index.ts): 27 MB, or 37. An hour's halt of a
 * network of five blocks a second has left 800 MB, and 25,000 blocks.
 */
export const UNREFERENCED_LIMITS: UnreferencedLimits = {
  blocks: 60_000,
  bytes: 2_000_000_000,
  mentions: 300_000,
};

/**
 * Multiple of the limits from which on blocks are stored for milestones only: tips that an upstream
 * makes up need all that is below them.
 */
const STORE_UP_TO = 1.5;

const EVICT_TO = 0.75;

/**
 * Share of all unreferenced blocks, the newest ones, that is not evicted: upstreams name only a few
 * tips, and any of the newest blocks may become a parent.
 */
const NEWEST = 0.1;

const MAX_STEP_PACKS = 64;

interface DroppableBlocks {
  view: ConsistentView;
  /**
   * Positions of visible unreferenced blocks in the view's cone, by number, ascending; without
   * those in the past of a staged block, which the next milestone needs.
   */
  positions: readonly number[];
  /** Ledger index when the block at this position was stored. */
  storedAt(position: number): number;
}

export type UnreferencedLimits = Omit<LiveExtent, 'oldest'>;

/** The unreferenced blocks, measured against the limits. */
interface Extent {
  head: Head | undefined;
  parameters: ParameterTable;
  /** Ledger index when the oldest was stored; null where there is none. */
  oldest: number | null;
  /** Usage divided by the limit, of whichever limit is closest. */
  excess: number;
  /** Room for what is stored before a milestone leads to it, in blocks ({@link roomOf}). */
  room: number;
}

/** Reads how many unreferenced blocks there are, and how many more may be stored. */
export async function measureUnreferenced(
  db: Database,
  limits: Partial<UnreferencedLimits> = {},
): Promise<Extent> {
  const { head, parameters, extent } = await readBatch(db, {
    head: selectHead(db),
    parameters: selectParameters(db),
    extent: selectExtent(db),
  });
  const { blocks, bytes, mentions } = { ...UNREFERENCED_LIMITS, ...limits };
  const heap = extent.blocks / blocks + extent.mentions / mentions;
  const excess = Math.max(heap, extent.bytes / bytes);
  const room = Math.max(0, Math.ceil(STORE_UP_TO * blocks - excess * blocks));
  return { head, parameters, oldest: extent.oldest, excess, room };
}

/** The room that a block takes, in blocks, by whichever limit it takes most of. */
export function roomOf({ bytes, transaction }: ParsedBlock): number {
  const limits = UNREFERENCED_LIMITS;
  const { inputs = [], outputs = [] } = transaction?.value.essence ?? {};
  const mentions = (limits.blocks * (inputs.length + outputs.length)) / limits.mentions;
  // as base64, and what it creates once more
  return Math.max(1 + mentions, (limits.blocks * 3 * bytes.length) / limits.bytes);
}

/**
 * Takes one step of dropping what nobody needs: orphans, and beyond the limits whatever is not in
 * the past cone of a tip. Throws a LedgerMoved if the unreferenced blocks changed meanwhile.
 *
 * @param readTips hex IDs of the tips that the upstreams name; only called beyond a limit
 * @returns how many blocks were dropped, by the reason; and the room that there was before
 */
export async function dropUnneeded(
  db: Database,
  index: UnreferencedIndex,
  readTips: () => Promise<readonly string[]>,
  limits?: Partial<UnreferencedLimits>,
): Promise<{ orphans: number; evicted: number; room: number }> {
  const { head, parameters, oldest, excess, room } = await measureUnreferenced(db, limits);
  if (head === undefined || oldest === null) return { orphans: 0, evicted: 0, room };
  const { ledger } = head;
  const { belowMaxDepth } = parametersAt(parameters, ledger);
  const first = ledger - belowMaxDepth - ORPHAN_MARGIN_MILESTONES;
  const findOld = ({ positions, storedAt }: DroppableBlocks) =>
    new Set(positions.filter((position) => storedAt(position) < first));
  const orphans = oldest < first ? await dropBlocks(db, index, { ledger, named: [] }, findOld) : 0;
  if (orphans > 0 || excess <= 1) return { orphans, evicted: 0, room };
  const tips = await readTips();
  return { orphans, evicted: await evict(db, index, ledger, tips, excess, room === 0), room };
}

/**
 * Takes one step of dropping all unreferenced blocks but those that a staged one needs; returns how
 * many. Throws a LedgerMoved if the unreferenced blocks changed meanwhile.
 */
export async function dropAll(db: Database, index: UnreferencedIndex): Promise<number> {
  const head = await readHead(db);
  if (head === undefined) return 0;
  const at = { ledger: head.ledger, named: [] };
  return dropBlocks(db, index, at, ({ positions }) => new Set(positions));
}

/**
 * @param excess usage divided by the limit, above 1
 * @param isFull whether there is no room for a tip: then the newest blocks go where none is stored;
 *   those that a tip needs are fetched again
 */
async function evict(
  db: Database,
  index: UnreferencedIndex,
  ledger: number,
  tips: readonly string[],
  excess: number,
  isFull: boolean,
): Promise<number> {
  if (tips.length === 0) return 0;
  return dropBlocks(db, index, { ledger, named: tips }, ({ view, positions }) => {
    const tipPositions = Array.from(view.named.values(), ({ number }) => view.cone.find(number));
    // nobody can tell which blocks are needed, and where there is no room nobody ever will
    if (tipPositions.every((position) => position < 0)) {
      const isCounted = !view.packs.some(({ isStaged }) => isStaged);
      return new Set(isFull && isCounted ? positions.slice(positions.length / excess) : []);
    }
    const needed = pastCone(view.cone, tipPositions);
    const old = positions.slice(0, Math.ceil(positions.length * (1 - NEWEST)));
    const unneeded = old.filter((position) => !needed.has(position));
    const most = Math.ceil(positions.length * (1 - EVICT_TO / excess));
    return new Set(unneeded.slice(0, most));
  });
}

/** Returns these positions, without -1, and those of all blocks that they lead to. */
function pastCone(cone: Cone, positions: readonly number[]): Set<number> {
  const reached = new Set(positions.filter((position) => position >= 0));
  // a Set iterates over what is added on the way
  for (const position of reached) {
    for (let parent = 0; parent < cone.parentCountAt(position); parent++) {
      const below = cone.find(cone.parentAt(position, parent));
      if (below >= 0) reached.add(below);
    }
  }
  return reached;
}

/**
 * Drops the chosen blocks with all their descendants, as far as one step goes; returns how many.
 * Throws a LedgerMoved if the unreferenced blocks changed meanwhile.
 *
 * @param choose positions of the blocks to drop
 */
async function dropBlocks(
  db: Database,
  index: UnreferencedIndex,
  { ledger, named }: { ledger: number; named: readonly string[] },
  choose: (blocks: DroppableBlocks) => ReadonlySet<number>,
): Promise<number> {
  const view = await readView(db, { index: ledger + 1, named, withStaged: true });
  if (view?.head.ledger !== ledger) throw new LedgerMoved('the ledger moved meanwhile');
  const blocks = droppable(view);
  const chosen = withDescendants(view.cone, blocks.positions, choose(blocks));
  const dropped = youngest(view, blocks.positions, chosen);
  if (dropped.size === 0) return 0;
  const { given } = await runFenced(db, {
    writes: write([
      requireSameUnreferenced(db, view.head, view.stored),
      ...dropFromPacks(db, view, dropped),
      noteDropped(db, view, view.unreferenced - dropped.size),
    ]),
    given: selectGiven(db),
  });
  const after = { ledger, dropped: view.head.dropped + 1, stored: given.nextBlock };
  const left = leftBlocks(view, (position) => dropped.has(position));
  index.retain(view, after, left);
  return dropped.size;
}

/**
 * Drops all staged blocks, of whichever milestones; they are not read. Throws a LedgerMoved if the
 * ledger is another one, or the unreferenced blocks change meanwhile.
 */
export async function dropStaged(db: Database, generation: string): Promise<void> {
  const { head, given } = await readBatch(db, { head: selectHead(db), given: selectGiven(db) });
  if (head?.generation !== generation) throw new LedgerMoved('the ledger was replaced');
  const next = nextNumbers(head, given);
  const left = head.unreferenced + next.nextBlock - head.nextBlock - given.staged;
  const statements = [
    requireSameUnreferenced(db, head, given.nextBlock),
    deleteStaged(db),
    noteDropped(db, { head, next }, left),
  ];
  await runFenced(db, { writes: write(statements) });
}

function droppable(view: ConsistentView): DroppableBlocks {
  const { cone, packs } = view;
  const staged: number[] = [];
  const storedAt = new Uint32Array(cone.size);
  visitBlocks(packs, (position, milestone, { statuses, isStaged }, at) => {
    if (milestone !== 0) return;
    if (isStaged) staged.push(position);
    storedAt[position] = statuses.at(at).storedAt;
  });
  const needed = pastCone(cone, staged);
  const positions = visiblePositions(view).filter((position) => !needed.has(position));
  return { view, positions, storedAt: (position) => storedAt[position]! };
}

/** The chosen blocks, and all that have one of them in their past: by position. */
export function withDescendants(
  cone: Cone,
  positions: readonly number[],
  chosen: ReadonlySet<number>,
): Set<number> {
  const found = new Set<number>();
  // a block's number is greater than its parents' numbers
  for (const position of positions) {
    let isFound = chosen.has(position);
    for (let parent = 0; !isFound && parent < cone.parentCountAt(position); parent++)
      isFound = found.has(cone.find(cone.parentAt(position, parent)));
    if (isFound) found.add(position);
  }
  return found;
}

/** The youngest of the blocks, in as many packs as one step writes. */
function youngest(
  { packs }: ConsistentView,
  positions: readonly number[],
  blocks: ReadonlySet<number>,
): Set<number> {
  const some = new Set<number>();
  const touched = new Set<number>();
  for (const position of positions.toReversed()) {
    if (!blocks.has(position)) continue;
    touched.add(packAt(packs, position).key);
    if (touched.size > MAX_STEP_PACKS) break;
    some.add(position);
  }
  return some;
}

/** Counts in the head that blocks were dropped, and keeps their numbers from being given again. */
export function noteDropped(
  db: Database,
  { head, next: { nextBlock, nextOutput } }: Pick<ConsistentView, 'head' | 'next'>,
  unreferenced: number,
  integrity = head.integrity,
): D1PreparedStatement {
  const dropped = head.dropped + 1;
  return moveHead(db, head, { nextBlock, nextOutput, unreferenced, dropped, integrity });
}
