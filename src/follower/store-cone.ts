/**
 * A milestone's past cone that is too large to be held: it is stored in parts, as open blocks, and
 * then applied out of D1 in one batch like any other (apply-milestone.ts).
 *
 * A walk from the milestone's parents down to what D1 knows keeps the skeleton of the whole cone
 * (cone-skeleton.ts), and of the contents as many as fit. Then parts go into D1, parents first, in
 * white-flag order: so the packs that they make are nearly those of the milestone. Contents that
 * were dropped are fetched anew.
 *
 * Nothing vouches for the cone yet. So only blocks that their parents prove open are stored, in a
 * view that the write is fenced on (src/ledger/prove-open.ts). The others stay in memory, if they
 * fit there; else the milestone cannot be followed.
 *
 * Passes that are cut off go on where they were, as long as the object lives. After that the walk
 * begins anew, and ends at the blocks that were stored.
 */
import type { AdmissionRules } from '../ledger/admission-rules.ts';
import { type BlockSource, ConeUnavailable } from '../ledger/block-source.ts';
import type { Database } from '../ledger/database.ts';
import { LedgerMoved } from '../ledger/fence.ts';
import type { Head } from '../ledger/head.ts';
import { lookUpBlocks } from '../ledger/known-blocks.ts';
import type { OpenSet, OpenView } from '../ledger/open-set.ts';
import { findProvenOpen } from '../ledger/prove-open.ts';
import { writeLog } from '../log.ts';
import type { ParsedBlock } from '../stardust/block.ts';
import { toHexDigits } from '../stardust/bytes.ts';
import { heapOf } from '../upstream/block-cache.ts';
import { createRawBlockCache, type RawBlockCache } from '../upstream/raw-block-cache.ts';
import { type ConeSkeleton, createConeSkeleton } from './cone-skeleton.ts';
import type { Exclusively } from './exclusively.ts';
import { MAX_OPEN_BLOCKS, storeOpen } from './store-open.ts';

/** What is known of a large cone from pass to pass. */
export interface LargeCone {
  readonly generation: string;
  /** Milestone index, and the milestone's ID in hex. */
  readonly index: number;
  readonly milestone: string;
  /** Contents of blocks that were fetched and are not stored. */
  readonly bodies: RawBlockCache;
  /** Absent when all parts are stored. */
  skeleton: ConeSkeleton | undefined;
  /** Blocks of the skeleton that were looked up, and fetched where they are not known. */
  walked: number;
  /** Hex IDs of the blocks to be stored; absent until the walk has come down. */
  toStore: string[] | undefined;
  stored: number;
  /** While a pass is at work on it: others share it. */
  running: Promise<void> | undefined;
  /** Why it cannot be followed. */
  refusal: string | undefined;
}

export function createLargeCone(
  { generation, ledger }: Head,
  { milestone, parents }: { milestone: string; parents: readonly string[] },
  maxHeapBytes: number,
): LargeCone {
  return {
    generation,
    index: ledger + 1,
    milestone,
    bodies: createRawBlockCache(maxHeapBytes),
    skeleton: createConeSkeleton(parents),
    walked: 0,
    toStore: undefined,
    stored: 0,
    running: undefined,
    refusal: undefined,
  };
}

/** How far it is, for people. */
export function describeProgress({ index, toStore, stored, walked }: LargeCone): string {
  return toStore === undefined
    ? `milestone ${index}: ${walked} blocks of its past cone are fetched`
    : `milestone ${index}: ${stored} of ${toStore.length} blocks of its past cone are stored`;
}

export interface StoreConeTools {
  rules: AdmissionRules;
  /** It finds in `bodies` what is there, and keeps there what it fetches. */
  source: BlockSource;
  exclusively: Exclusively;
  openSet: OpenSet;
  /** Unix milliseconds after which nothing more is begun. */
  deadline: number;
  /** The most blocks of a part. */
  maxPart: number;
}

/** Blocks of a skeleton: more are not walked. */
const MAX_WALKED = 200_000;

/** Blocks looked up and fetched in one go. */
const WALKED_AT_ONCE = 500;

/** Heap for the parsed blocks of a part, which is looked at after so many blocks. */
const MAX_PART_HEAP_BYTES = 6_000_000;
const PART_STEP = 64;

/** Parts in one pass, which may put 1,000 statements to D1: some 20 each, and 300 to apply. */
const PARTS_AT_ONCE = 16;

/**
 * Stores what can be stored of the cone. Throws a ConeUnavailable, `over-budget` where a pass may do
 * no more and `too-large` where there is no way; a LedgerMoved; and whatever the source throws.
 */
export async function storeCone(
  db: Database,
  head: Head,
  cone: LargeCone,
  tools: StoreConeTools,
): Promise<void> {
  cone.running ??= storeParts(db, head, cone, tools).finally(() => {
    cone.running = undefined;
  });
  await cone.running;
}

async function storeParts(
  db: Database,
  head: Head,
  cone: LargeCone,
  tools: StoreConeTools,
): Promise<void> {
  const { skeleton } = cone;
  if (skeleton === undefined) return;
  if (cone.toStore === undefined) {
    await walkDown(db, head, cone, skeleton, tools);
    const order = skeleton.order();
    cone.toStore = skeleton.storable(order, head).map(skeleton.idOf);
    const { toStore, index } = cone;
    writeLog('info', 'large milestone', { index, blocks: order.length, toStore: toStore.length });
  }
  for (let parts = 0; cone.stored < cone.toStore.length; parts++) {
    if (parts === PARTS_AT_ONCE || (parts > 0 && Date.now() > tools.deadline)) throw pause(cone);
    await storePart(db, head, cone, cone.toStore, tools);
  }
  // the milestone is applied next: it takes heap, and changes what is remembered
  cone.skeleton = undefined;
  tools.openSet.forget();
}

function pause(cone: LargeCone): ConeUnavailable {
  return new ConeUnavailable('over-budget', describeProgress(cone));
}

async function walkDown(
  db: Database,
  head: Head,
  cone: LargeCone,
  skeleton: ConeSkeleton,
  { source, deadline, openSet }: StoreConeTools,
): Promise<void> {
  const { findOpen } = await openSet.view(db, head, []);
  for (let begun = false; cone.walked < skeleton.size; begun = true) {
    if (begun && Date.now() > deadline) throw pause(cone);
    const end = Math.min(skeleton.size, cone.walked + WALKED_AT_ONCE);
    if (end > MAX_WALKED)
      throw tooLarge(cone.index, `more than ${MAX_WALKED} blocks are not known here`);
    const ids = skeleton.idsBetween(cone.walked, end);
    const known = await lookUpBlocks(db, findOpen, ids);
    for (const [id, reference] of known) skeleton.know(id, reference);
    const unknown = ids.filter((id) => !known.has(id));
    for (const { id, block } of await source.fetch(unknown))
      skeleton.open(toHexDigits(id), block.parents.map(toHexDigits));
    cone.walked = end;
  }
}

/** What nobody can help but an operator. */
export function tooLarge(index: number, why: string): ConeUnavailable {
  const message = `the past cone of milestone ${index} is too large to be followed, ${why}: import a snapshot from after it`;
  return new ConeUnavailable('too-large', message);
}

/** Stores the next blocks, as far as they are open for certain when they are stored. */
async function storePart(
  db: Database,
  head: Head,
  cone: LargeCone,
  toStore: readonly string[],
  { rules, source, exclusively, openSet, maxPart }: StoreConeTools,
): Promise<void> {
  const blocks = new Map<string, ParsedBlock>();
  let heap = 0;
  while (blocks.size < maxPart && heap < MAX_PART_HEAP_BYTES) {
    const first = cone.stored + blocks.size;
    const ids = toStore.slice(first, first + Math.min(PART_STEP, maxPart - blocks.size));
    if (ids.length === 0) break;
    for (const block of await source.fetch(ids)) {
      blocks.set(toHexDigits(block.id), block);
      heap += heapOf(block);
    }
  }
  const choose = ({ named, head: now, size }: OpenView) => {
    if (now.ledger !== head.ledger) throw new LedgerMoved(`the ledger is at ${now.ledger} already`);
    if (size + blocks.size > MAX_OPEN_BLOCKS)
      throw tooLarge(cone.index, `${size} blocks that no milestone references are stored`);
    const unknown = new Map([...blocks].filter(([id]) => !named.has(id)));
    return findProvenOpen(unknown, named, now);
  };
  const lastFirst = new Map([...blocks].reverse());
  const part = { blocks: lastFirst, rules, choose, openSet };
  const stored = await exclusively(() => storeOpen(db, head, part));
  for (const id of stored) cone.bodies.delete(id);
  cone.stored += blocks.size;
  writeLog('info', 'part of a milestone stored', {
    index: cone.index,
    stored: cone.stored,
    of: toStore.length,
    held: blocks.size - stored.length,
  });
}
