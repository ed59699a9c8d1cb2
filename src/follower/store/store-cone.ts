/**
 * Fetches and stores the part of a milestone's past cone that D1 lacks, whatever its size; the
 * milestone is then applied from D1 (apply-milestone.ts).
 *
 * A walk from the milestone's parents down to what D1 knows keeps the skeleton of the missing
 * blocks (src/ledger/intake/cone-skeleton.ts), and as many contents as fit. Then parts are stored,
 * parents first; contents that were evicted meanwhile are fetched again.
 *
 * Nothing vouches for the cone yet. Blocks that their parents prove unreferenced are stored where
 * requests see them (src/ledger/intake/prove-unreferenced.ts); the others are staged for this
 * milestone. If its roots turn out right, the cone commits to all of them.
 *
 * A walk below the import meets nothing that is known. So it queries the upstream once in {@link
 * MAX_LEVELS} levels, and of what it lacks, and ends at referenced blocks; blocks upon these are
 * staged. A pass continues where the last one ended, as long as the object lives; after that the
 * walk begins again, and ends at stored blocks.
 */
import type { Database } from '../../ledger/core/database.ts';
import { LedgerMoved } from '../../ledger/core/fence.ts';
import type { Head } from '../../ledger/core/head.ts';
import { readAlone } from '../../ledger/core/read-batch.ts';
import { ConeUnavailable } from '../../ledger/intake/block-source.ts';
import {
  type ConeSkeleton,
  createConeSkeleton,
  WALKED_AT_ONCE,
  type WalkTools,
  walkDown,
} from '../../ledger/intake/cone-skeleton.ts';
import {
  findProvenUnreferenced,
  knowsEveryReference,
} from '../../ledger/intake/prove-unreferenced.ts';
import { selectExtent } from '../../ledger/packs/live-packs.ts';
import { dropStaged } from '../../ledger/write/drop-blocks.ts';
import {
  heapOfUnreferenced,
  lookUpBlocks,
  type UnreferencedIndex,
  type UnreferencedView,
} from '../../ledger/write/unreferenced-index.ts';
import { writeLog } from '../../platform/log.ts';
import type { AdmissionRules } from '../../stardust/admission.ts';
import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import type { ParsedBlock } from '../../stardust/wire/block.ts';
import { splitIds } from '../../upstream/block-ids.ts';
import { type BlockPool, heapOf } from '../../upstream/block-pool.ts';
import type { FetchBlocks } from '../../upstream/fetch-blocks.ts';
import { createReferenceReader } from '../../upstream/read-references.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import type { RunStep } from '../steps.ts';
import {
  createSaid,
  MAX_ASKED,
  type QueryLimits,
  readReferenced,
  type SaidReferences,
} from './leave-out.ts';
import type { Progress } from './progress.ts';
import { type Announce, type ChosenBlocks, storeUnreferenced } from './store-unreferenced.ts';

/** The missing part of a cone, from pass to pass. */
export interface MissingCone {
  readonly generation: string;
  /** Milestone index, and the milestone's ID in hex. */
  readonly index: number;
  readonly milestone: string;
  /** Name of the upstream that is queried in the walk; undefined before one was. */
  by: string | undefined;
  /** Empty once the walk has come down. */
  skeleton: ConeSkeleton;
  /** Blocks of the skeleton that were looked up, and fetched where they are not known. */
  walked: number;
  /** IDs still to store, parents first, {@link PART_STEP} in each array; undefined before. */
  left: Uint8Array[] | undefined;
  /** Blocks by that upstream's word: the walk ends at the referenced ones. */
  readonly said: SaidReferences;
  /** Whether no block was staged before its own: one may rest on any upstream's word. */
  isFirst: boolean;
  /** How many blocks were missing, and how many of them are stored. */
  missing: number;
  stored: number;
  /** Tries since a part was stored last that ended as an upstream did not know a block that is left. */
  lacked: number;
  running: Promise<void> | undefined;
}

/** @param parents hex IDs of the milestone's parents */
export function createMissingCone(
  { generation, ledger }: Pick<Head, 'generation' | 'ledger'>,
  { milestone, parents }: { milestone: string; parents: readonly string[] },
  by?: string,
): MissingCone {
  return {
    generation,
    index: ledger + 1,
    milestone,
    by,
    skeleton: createConeSkeleton(parents),
    walked: 0,
    left: undefined,
    said: createSaid(),
    isFirst: true,
    missing: 0,
    stored: 0,
    lacked: 0,
    running: undefined,
  };
}

/** Heap of a block that the walk met, or of a word about one. */
export const MET_HEAP_BYTES = 84;

/** Blocks that the walk met, and words about them, which take as much heap. */
export const countMet = ({ skeleton, said }: MissingCone): number =>
  skeleton.size + said.words.size;

/** The progress, for people. */
export function describeProgress({ index, left, missing, stored, walked }: MissingCone): string {
  return left === undefined
    ? `milestone ${index}: ${walked} blocks of its past cone are fetched`
    : `milestone ${index}: ${stored} of ${missing} blocks of its past cone are stored`;
}

/** Name of what progress is measured of: a walk by another word is other work. */
const workOf = ({ milestone, by, isFirst }: MissingCone) => `${milestone} ${by} ${isFirst}`;

export interface StoreConeTools extends QueryLimits {
  /** View with the milestone's parents, as it is now. */
  view: UnreferencedView;
  /** The follower's (follower-context.ts). */
  memory: {
    step: RunStep;
    index: UnreferencedIndex;
    pool: BlockPool;
    announce: Announce | undefined;
    progress: Progress;
    missing: readonly MissingCone[];
    upkeep: { isCrowded: boolean };
  };
  rules: AdmissionRules;
  fetch: FetchBlocks;
  /** Queried about blocks far down; absent: nobody is. */
  upstream?: Upstream | undefined;
  /** Unix milliseconds after which no further part is begun, and not much is walked. */
  deadline: number;
  /** The most blocks of a part, those that the walk may meet, and heap of unreferenced ones. */
  maxPart?: number;
  maxMet?: number;
  maxHeap?: number;
}

/** Levels of blocks in a row without a query whether they are referenced. */
const MAX_LEVELS = 64;

/**
 * Heap of unreferenced blocks to which a milestone's are added, beyond that of what is stored without
 * one (drop-blocks.ts): 165,000 blocks, or 600,000 mentions of outputs. And bytes in D1. A lying
 * upstream can have its walk miss where the past cone ends.
 */
const MAX_LIVE_HEAP_BYTES = 75_000_000;
const MAX_LIVE_BYTES = 4_000_000_000;

/**
 * Blocks and words of a walk, more than can be stored. A lying upstream would have it walk
 * down to the genesis.
 */
const MAX_MET = 250_000;

/** Blocks of a part, and heap for them, which is measured after each {@link PART_STEP}. */
const PART_STEP = 64;
const MAX_PART = 31 * PART_STEP;
const MAX_PART_HEAP_BYTES = 8_000_000;

/**
 * Statements for the cone in one pass, one part aside. The pass may have used 400 (apply-next.ts) of
 * D1's 1,000, and needs some 60 to apply the milestone. A level is 1, a part up to {@link OF_PART}
 * (300 blocks of 32 KB fill 17 packs).
 */
const STATEMENTS_AT_ONCE = 480;
const OF_PART = 45;

/**
 * Fetches and stores the missing blocks. Throws a ConeUnavailable (`over-budget`: the next pass
 * continues; `too-large`: the cone has no end), a LedgerMoved, and an UpstreamFailure.
 */
export async function storeCone(
  db: Database,
  head: Head,
  cone: MissingCone,
  tools: StoreConeTools,
): Promise<void> {
  // a run of another job fails by the limits and the upstream of that job
  while (cone.running !== undefined) await cone.running.catch(() => undefined);
  cone.running = storeParts(db, head, cone, tools).finally(() => {
    cone.running = undefined;
  });
  await cone.running;
}

async function storeParts(
  db: Database,
  head: Head,
  cone: MissingCone,
  tools: StoreConeTools,
): Promise<void> {
  const budget = { statementsLeft: STATEMENTS_AT_ONCE };
  cone.left ??= await walkToKnown(db, cone, tools, budget);
  for (let parts = 0; cone.left.length > 0; parts++) {
    const isOver = budget.statementsLeft < OF_PART || Date.now() > tools.deadline;
    if (parts > 0 && isOver) throw overBudget(cone);
    budget.statementsLeft -= OF_PART;
    await requireFit(db, cone, tools);
    await storePart(db, head, cone, cone.left, tools);
  }
}

/**
 * Drops what is staged where too much is stored, by whosever word, and throws a ConeUnavailable: the
 * next upstream, or the next pass, walks down to nothing that a liar staged. Where strangers' blocks
 * take the room, they are dropped too (../upkeep.ts).
 */
async function requireFit(
  db: Database,
  { index, generation }: MissingCone,
  { memory, maxHeap = MAX_LIVE_HEAP_BYTES }: StoreConeTools,
): Promise<void> {
  const extent = await readAlone(selectExtent(db));
  if (heapOfUnreferenced(extent) <= maxHeap && extent.bytes <= MAX_LIVE_BYTES) return;
  await memory.step('store', () => dropStaged(db, generation));
  memory.missing = [];
  memory.upkeep.isCrowded = heapOfUnreferenced(await readAlone(selectExtent(db))) > maxHeap / 2;
  const reason = `milestone ${index}: more of its past cone is stored than can be read`;
  throw new ConeUnavailable('too-large', reason);
}

const overBudget = (cone: MissingCone) =>
  new ConeUnavailable('over-budget', describeProgress(cone));

/** Whether the block, by its hex ID, is stored for the milestone already. */
export const isKnown = ({ named, stagedNumber }: UnreferencedView, id: string): boolean =>
  named.has(id) || stagedNumber(id) !== undefined;

async function walkToKnown(
  db: Database,
  cone: MissingCone,
  pass: StoreConeTools,
  budget: { statementsLeft: number },
): Promise<Uint8Array[]> {
  const { view, memory, fetch, upstream, deadline, maxMet = MAX_MET } = pass;
  const { skeleton, walked: first, said } = cone;
  const { findUnreferenced, stagedNumber } = view;
  const readReference =
    upstream && createReferenceReader({ upstreams: [upstream], index: cone.index });
  const tools: WalkTools = {
    async findKnown(ids) {
      // a pass that comes late walks through a small cone as well, which may have many levels
      const isLate = cone.walked - first >= WALKED_AT_ONCE && Date.now() > deadline;
      if (isLate || budget.statementsLeft-- === 0) throw overBudget(cone);
      const others = ids.filter((id) => stagedNumber(id) === undefined);
      const known = await lookUpBlocks(db, findUnreferenced, others);
      return { has: (id) => known.has(id) || stagedNumber(id) !== undefined };
    },
    async fetch(ids) {
      const others = () => ids.filter((id) => !said.referenced.has(id));
      const lacking = () => others().filter((id) => memory.pool.get(id) === undefined);
      const query = async (some: readonly string[]) => {
        if (readReference === undefined || knowsEveryReference(view.head)) return;
        await readReferenced(readReference, some, pass, said);
      };
      const deep = ids.filter((id) => skeleton.levelOf(id) >= MAX_LEVELS);
      await query(deep);
      deep.forEach(skeleton.restartLevels);
      for (let [left, tries] = [Number.POSITIVE_INFINITY, 0]; ; left = lacking().length) {
        try {
          return await fetch(others());
        } catch (error) {
          // what came may be staged by another word, and dropped, before the walk goes on
          for (const { id, block } of others().flatMap((id) => memory.pool.get(id) ?? []))
            skeleton.setParents(toHexDigits(id), block.parents.map(toHexDigits));
          if (!(error instanceof ConeUnavailable) || error.fault !== 'unknown-block') throw error;
          // another node of that URL may have it; else it is pruned, an entry point, or the genesis
          tries = lacking().length < left ? 0 : tries + 1;
          if (tries === MAX_ASKED) throw error;
          if (tries > 0) await query(lacking());
        }
      }
    },
  };
  await walkDown(skeleton, tools, first, (walked) => {
    cone.walked = walked;
    memory.progress.workLeft(workOf(cone), 'walk', -walked);
    if (countMet(cone) > maxMet) {
      const reason = `milestone ${cone.index}: more than ${maxMet} blocks of its past cone are missing`;
      throw new ConeUnavailable('too-large', reason);
    }
  });
  const order = skeleton.order();
  cone.missing = order.length;
  // the milestone's own work needs the heap
  cone.skeleton = createConeSkeleton([]);
  const { index, missing: blocks } = cone;
  if (blocks > MAX_PART) writeLog('info', 'follower.large-milestone', { index, blocks });
  return Array.from({ length: Math.ceil(order.length / PART_STEP) }, (_, step) =>
    skeleton.idBytes(order.subarray(step * PART_STEP, (step + 1) * PART_STEP)),
  );
}

async function storePart(
  db: Database,
  head: Head,
  cone: MissingCone,
  left: Uint8Array[],
  { memory, rules, fetch, maxPart = MAX_PART }: StoreConeTools,
): Promise<void> {
  const blocks = new Map<string, ParsedBlock>();
  let steps = 0;
  let heap = 0;
  while (steps < left.length && blocks.size < maxPart && heap < MAX_PART_HEAP_BYTES) {
    for (const block of await fetch(splitIds(left[steps++]!))) {
      blocks.set(toHexDigits(block.id), block);
      heap += heapOf(block);
    }
  }
  const choose = (view: UnreferencedView): ChosenBlocks => {
    const { named, head: now } = view;
    if (now.ledger !== head.ledger) throw new LedgerMoved(`the ledger is at ${now.ledger} already`);
    const unknown = new Map([...blocks].filter(([id]) => !isKnown(view, id)));
    return {
      visible: findProvenUnreferenced(unknown, named, now),
      staged: new Set(unknown.keys()),
    };
  };
  const { index, announce, pool } = memory;
  const part = { blocks, rules, choose, ends: cone.said.referenced, index, announce };
  const stored = await memory.step('store', () => storeUnreferenced(db, head, part));
  stored.forEach(pool.delete);
  left.splice(0, steps);
  cone.stored += blocks.size;
  cone.lacked = 0;
  memory.progress.workLeft(workOf(cone), 'store', cone.missing - cone.stored);
  if (cone.missing > MAX_PART) {
    const progress = { index: cone.index, stored: cone.stored, of: cone.missing };
    writeLog('info', 'follower.part-stored', progress);
  }
}
