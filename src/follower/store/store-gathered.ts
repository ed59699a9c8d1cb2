/**
 * Stores gathered blocks where requests see them: those that are unreferenced for certain. A block
 * that one of our milestones references, unknown here, would look unreferenced to every later
 * request (docs/architecture.md#the-trap). So its parents prove it unreferenced
 * (src/ledger/intake/prove-unreferenced.ts), or every upstream is queried.
 */
import type { Head } from '../../ledger/core/head.ts';
import { ConeUnavailable } from '../../ledger/intake/block-source.ts';
import {
  findDoubtfulRoots,
  findProvenUnreferenced,
  type KnownReference,
} from '../../ledger/intake/prove-unreferenced.ts';
import { measureUnreferenced, roomOf } from '../../ledger/write/drop-blocks.ts';
import type { UnreferencedView } from '../../ledger/write/unreferenced-index.ts';
import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import type { ParsedBlock } from '../../stardust/wire/block.ts';
import { heapOf } from '../../upstream/block-pool.ts';
import { isFull, type SaidOfBlocks } from '../follower-context.ts';
import {
  createQuery,
  type GatherContext,
  type GatheredBlocks,
  type GatherFault,
  type GatherLimits,
  gatherBlocks,
  type Moment,
  requireFault,
  startWalk,
  type WalkMoment,
} from './gather-blocks.ts';
import { storeUnreferenced } from './store-unreferenced.ts';

export interface StoredBlocks extends Pick<GatheredBlocks, 'isBusy' | 'isWithheld'> {
  stored: number;
  /** Why some block of the walk is not stored, if a reason is known. */
  fault: GatherFault | undefined;
  cut: readonly string[];
  refused: number;
  /** Whether the deadline came before all was stored that can be. */
  isLate: boolean;
}

export interface StoreLimits extends GatherLimits {
  /** Gives up blocks with a parent referenced more than N milestones before the ledger's. */
  maxDepth?: number;
  /** Blocks of one step, as {@link MAX_STORED} if absent. */
  most?: number;
}

/**
 * Gathers what is below the tops and stores it, as far as there is room (drop-blocks.ts): all that
 * is stored before a milestone leads to it. Throws a LedgerMoved, and what the database throws.
 *
 * @param tops hex IDs
 */
export async function storeBelow(
  context: GatherContext,
  at: Moment,
  tops: readonly string[],
  limits: StoreLimits,
): Promise<StoredBlocks> {
  const held = { heap: 0 };
  try {
    return await gatherAndStore(context, at, tops, limits, held);
  } finally {
    context.memory.fetched.heap -= held.heap;
  }
}

async function gatherAndStore(
  context: GatherContext,
  at: Moment,
  tops: readonly string[],
  limits: StoreLimits,
  held: { heap: number },
): Promise<StoredBlocks> {
  const { memory } = context;
  const moment = { ...at, said: startWalk(memory, at.head) };
  const { blocks, cut, refused, ...walk } = await gatherBlocks(context, moment, tops, limits, held);
  const proven = await storeAll(context, moment, blocks, limits);
  const left = new Map([...blocks].filter(([id]) => !proven.has(id)));
  // upon a walk that was cut off nothing more can be stored yet
  const isDone = left.size === 0 || cut.length > 0 || isFull(memory);
  const isEnd = isDone || Date.now() >= limits.deadline;
  const { said, fault } = isEnd
    ? { said: NONE, fault: undefined }
    : await storeSaid(context, moment, left, limits);
  const stored = proven.size + said.size;
  const isShort = isFull(memory) && stored < blocks.size;
  // what had no room is not late
  const isUnsaid = !isShort && said.size < left.size;
  const isLate = (cut.length > 0 || isUnsaid) && Date.now() >= limits.deadline;
  if (stored > 0) memory.tips.newestBlock = Date.now();
  const full = isShort ? new ConeUnavailable('over-budget', TOO_MANY) : undefined;
  return { ...walk, stored, fault: full ?? walk.fault ?? fault, cut, refused, isLate };
}

type Blocks = ReadonlyMap<string, ParsedBlock>;

const NONE: ReadonlySet<string> = new Set();

/** Blocks of one step, and their heap, one block aside: writing takes twice as much. */
const MAX_STORED = 2000;
const MAX_STORED_HEAP_BYTES = 8_000_000;

const TOO_MANY = 'too many unreferenced blocks are stored already';

/** Stores what upstreams call unreferenced, and what stands upon that. */
async function storeSaid(
  context: GatherContext,
  moment: WalkMoment,
  left: ReadonlyMap<string, ParsedBlock>,
  limits: StoreLimits,
): Promise<{ said: ReadonlySet<string>; fault: GatherFault | undefined }> {
  const { db, memory } = context;
  const parents = [...left.values()].flatMap(({ block }) => block.parents.map(toHexDigits));
  const named = [...new Set([...left.keys(), ...parents])];
  const view = await memory.index.view(db, moment.head, named);
  const roots = findRoots(left, view.named, view.head, moment.said);
  const query = createQuery(context, moment, limits.deadline);
  const fault = (await query(roots).catch(requireFault)) || undefined;
  // else a large walk would be read again for nothing
  const isTold = roots.some((id) => moment.said.unreferenced.has(id));
  return { said: isTold ? await storeAll(context, moment, left, limits) : NONE, fault };
}

/**
 * Stores what is unreferenced for certain by now; returns the hex IDs. Stored blocks leave the
 * pool. A step is given only the blocks that it stores, so it looks up what these need: their
 * parents among the blocks before them are stored by then, or they cannot be. All walks share room.
 */
async function storeAll(
  { db, memory }: GatherContext,
  { head, rules, said }: WalkMoment,
  blocks: Blocks,
  { maxDepth = Number.POSITIVE_INFINITY, most = MAX_STORED }: StoreLimits,
): Promise<Set<string>> {
  const { index, announce, pool, step, upkeep } = memory;
  const stored = new Set<string>();
  const chooseFrom =
    (some: Blocks) =>
    ({ named, head: now }: UnreferencedView) => {
      const visible = findUnreferenced(some, named, now, said);
      let left = upkeep.room!;
      for (const [id, block] of some) {
        const isGivenUp = isBelow(block, named, now.ledger - maxDepth);
        if (isGivenUp) visible.delete(id);
        if (isGivenUp || named.has(id)) pool.delete(id);
        // parents come first
        if (visible.has(id) && left <= 0) visible.delete(id);
        if (visible.has(id)) left -= roomOf(block);
      }
      return { visible };
    };
  for (const some of inSteps(blocks, most)) {
    if (isFull(memory)) break;
    const part = { blocks: some, rules, choose: chooseFrom(some), index, announce };
    await step('store', async () => {
      upkeep.room ??= (await measureUnreferenced(db)).room;
      for (const id of await storeUnreferenced(db, head, part)) {
        upkeep.room -= roomOf(some.get(id)!);
        stored.add(id);
        pool.delete(id);
      }
    });
  }
  return stored;
}

/** The blocks, in their order, in as many parts as they are stored in. */
function* inSteps(blocks: Blocks, most: number): Generator<Blocks> {
  let some = new Map<string, ParsedBlock>();
  let heap = 0;
  for (const [id, block] of blocks) {
    if (some.size === most || heap > MAX_STORED_HEAP_BYTES) {
      yield some;
      [some, heap] = [new Map(), 0];
    }
    some.set(id, block);
    heap += heapOf(block);
  }
  if (some.size > 0) yield some;
}

/** Whether a milestone before this index references a parent of the block. */
function isBelow(
  { block }: ParsedBlock,
  known: ReadonlyMap<string, KnownReference>,
  index: number,
): boolean {
  return block.parents.some((id) => {
    const { milestone = null } = known.get(toHexDigits(id)) ?? {};
    return milestone !== null && milestone < index;
  });
}

/** Finds the lowest blocks that nothing proves unreferenced, and whose parents are all here. */
function findRoots(
  blocks: ReadonlyMap<string, ParsedBlock>,
  known: ReadonlyMap<string, KnownReference>,
  head: Head,
  said: SaidOfBlocks,
): string[] {
  const { unknown, references } = withSaid(blocks, known, said);
  const isHere = (id: string) => blocks.has(id) || known.has(id);
  return findDoubtfulRoots(unknown, references, head).filter((id) =>
    blocks.get(id)!.block.parents.map(toHexDigits).every(isHere),
  );
}

/** Hex IDs of the blocks that upstreams called unreferenced, or whose parents prove it. */
function findUnreferenced(
  blocks: ReadonlyMap<string, ParsedBlock>,
  known: ReadonlyMap<string, KnownReference>,
  head: Head,
  said: SaidOfBlocks,
): Set<string> {
  const { unknown, references, unreferenced } = withSaid(blocks, known, said);
  return unreferenced.union(findProvenUnreferenced(unknown, references, head));
}

/** Adds the blocks that upstreams called unreferenced to the known ones. */
function withSaid(
  blocks: ReadonlyMap<string, ParsedBlock>,
  known: ReadonlyMap<string, KnownReference>,
  { unreferenced: said }: SaidOfBlocks,
) {
  const unknown = new Map([...blocks].filter(([id]) => !known.has(id) && !said.has(id)));
  const others = [...blocks.keys()].filter((id) => !known.has(id) && said.has(id));
  const references = new Map([...known, ...others.map((id) => [id, { milestone: null }] as const)]);
  return { unknown, references, unreferenced: new Set(others) };
}
