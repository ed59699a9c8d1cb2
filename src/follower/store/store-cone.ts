/**
 * The part of a milestone's past cone that D1 does not have: it is fetched and stored, whatever its
 * size, and the milestone is then applied from D1 (apply-milestone.ts).
 *
 * A walk from the milestone's parents down to what D1 knows keeps the skeleton of the missing
 * blocks (cone-skeleton.ts), and of their contents as many as fit. Then parts are stored, parents
 * first, in white-flag order. Contents that were evicted meanwhile are fetched again.
 *
 * Nothing vouches for the cone yet. So only blocks that their parents prove unreferenced are stored
 * where requests see them (src/ledger/intake/prove-unreferenced.ts). The others are staged for this
 * milestone. If its roots turn out right, the cone commits to all of them.
 *
 * Passes that are cut off continue where they were, as long as the object lives. After that the
 * walk begins again, and ends at the blocks that were stored.
 */

import type { Database } from '../../ledger/core/database.ts';
import { LedgerMoved } from '../../ledger/core/fence.ts';
import type { Head } from '../../ledger/core/head.ts';
import type { AdmissionRules } from '../../ledger/intake/admission-rules.ts';
import { type BlockSource, ConeUnavailable } from '../../ledger/intake/block-source.ts';
import { lookUpBlocks } from '../../ledger/intake/known-blocks.ts';
import { findProvenUnreferenced } from '../../ledger/intake/prove-unreferenced.ts';
import type { UnreferencedIndex, UnreferencedView } from '../../ledger/write/unreferenced-index.ts';
import { writeLog } from '../../log.ts';
import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import type { ParsedBlock } from '../../stardust/wire/block.ts';
import { heapOf } from '../../upstream/block-cache.ts';
import type { Mutex } from '../mutex.ts';
import { type ConeSkeleton, createConeSkeleton } from './cone-skeleton.ts';
import { type ChosenBlocks, storeUnreferenced } from './store-unreferenced.ts';

/** What is missing of a cone, from pass to pass. */
export interface MissingCone {
  readonly generation: string;
  /** Milestone index, and the milestone's ID in hex. */
  readonly index: number;
  readonly milestone: string;
  /** Empty again once all blocks are stored: the milestone's own work needs the heap. */
  skeleton: ConeSkeleton;
  /** Blocks of the skeleton that were looked up, and fetched where they are not known. */
  walked: number;
  /** Blocks to store, as the skeleton has them; absent until the walk has come down. */
  order: Int32Array | undefined;
  /** How many of those are stored. */
  stored: number;
  /** While a pass works on it: others share the work. */
  running: Promise<void> | undefined;
}

/** @param parents of the milestone, hex IDs */
export function createMissingCone(
  { generation, ledger }: Head,
  { milestone, parents }: { milestone: string; parents: readonly string[] },
): MissingCone {
  return {
    generation,
    index: ledger + 1,
    milestone,
    skeleton: createConeSkeleton(parents),
    walked: 0,
    order: undefined,
    stored: 0,
    running: undefined,
  };
}

/** The progress, for people. */
export function describeProgress({ index, order, stored, walked }: MissingCone): string {
  return order === undefined
    ? `milestone ${index}: ${walked} blocks of its past cone are fetched`
    : `milestone ${index}: ${stored} of ${order.length} blocks of its past cone are stored`;
}

export interface StoreConeTools {
  rules: AdmissionRules;
  source: BlockSource;
  mutex: Mutex;
  index: UnreferencedIndex;
  /** Called with the hex IDs of blocks that were stored. */
  stored: (ids: readonly string[]) => void;
  /** Unix milliseconds after which no further part is begun, and not much is walked. */
  deadline: number;
  /** The most blocks of a part. */
  maxPart?: number;
}

/** Blocks looked up and fetched in one go. */
const WALKED_AT_ONCE = 500;

/** Blocks of a part, and heap for them, which is checked after so many blocks. */
const MAX_PART = 2000;
const MAX_PART_HEAP_BYTES = 12_000_000;
const PART_STEP = 64;

/** Parts in one pass, which may run 1,000 statements on D1: some 20 each, and 300 to apply. */
const PARTS_AT_ONCE = 16;

/**
 * Fetches and stores the missing blocks. Throws a ConeUnavailable, `over-budget`, where the pass
 * may do no more and the next one continues; a LedgerMoved; and whatever the source throws.
 */
export async function storeCone(
  db: Database,
  head: Head,
  cone: MissingCone,
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
  cone: MissingCone,
  tools: StoreConeTools,
): Promise<void> {
  if (cone.order === undefined) {
    await walkDown(db, head, cone, tools);
    cone.order = cone.skeleton.order();
    const { order, index } = cone;
    if (order.length > MAX_PART)
      writeLog('info', 'follower.large-milestone', { index, blocks: order.length });
  }
  for (let parts = 0; cone.stored < cone.order.length; parts++) {
    if (parts === PARTS_AT_ONCE || (parts > 0 && Date.now() > tools.deadline)) throw pause(cone);
    await storePart(db, head, cone, cone.order, tools);
  }
  cone.skeleton = createConeSkeleton([]);
}

function pause(cone: MissingCone): ConeUnavailable {
  return new ConeUnavailable('over-budget', describeProgress(cone));
}

async function walkDown(
  db: Database,
  head: Head,
  cone: MissingCone,
  { source, deadline, index }: StoreConeTools,
): Promise<void> {
  const { skeleton } = cone;
  const { findUnreferenced, stagedNumber } = await index.view(db, head, []);
  const first = cone.walked;
  while (cone.walked < skeleton.size) {
    // a pass that comes late walks through a small cone as well, which may have many levels
    if (cone.walked - first >= WALKED_AT_ONCE && Date.now() > deadline) throw pause(cone);
    const end = Math.min(skeleton.size, cone.walked + WALKED_AT_ONCE);
    const ids = skeleton
      .idsBetween(cone.walked, end)
      .filter((id) => stagedNumber(id) === undefined);
    const known = await lookUpBlocks(db, findUnreferenced, ids);
    const unknown = ids.filter((id) => !known.has(id));
    for (const { id, block } of await source.fetch(unknown))
      skeleton.setParents(toHexDigits(id), block.parents.map(toHexDigits));
    cone.walked = end;
  }
}

async function storePart(
  db: Database,
  head: Head,
  cone: MissingCone,
  order: Int32Array,
  { rules, source, mutex, index, stored: noteStored, maxPart = MAX_PART }: StoreConeTools,
): Promise<void> {
  const blocks = new Map<string, ParsedBlock>();
  let heap = 0;
  while (blocks.size < maxPart && heap < MAX_PART_HEAP_BYTES) {
    const first = cone.stored + blocks.size;
    const some = order.subarray(first, first + Math.min(PART_STEP, maxPart - blocks.size));
    if (some.length === 0) break;
    for (const block of await source.fetch(Array.from(some, cone.skeleton.idOf))) {
      blocks.set(toHexDigits(block.id), block);
      heap += heapOf(block);
    }
  }
  const choose = ({ named, head: now, stagedNumber }: UnreferencedView): ChosenBlocks => {
    if (now.ledger !== head.ledger) throw new LedgerMoved(`the ledger is at ${now.ledger} already`);
    const unknown = new Map(
      [...blocks].filter(([id]) => !named.has(id) && stagedNumber(id) === undefined),
    );
    return {
      visible: findProvenUnreferenced(unknown, named, now),
      staged: new Set(unknown.keys()),
    };
  };
  const lastFirst = new Map([...blocks].reverse());
  const part = { blocks: lastFirst, rules, choose, index };
  noteStored(await mutex(() => storeUnreferenced(db, head, part)));
  cone.stored += blocks.size;
  if (order.length > MAX_PART) {
    const progress = { index: cone.index, stored: cone.stored, of: order.length };
    writeLog('info', 'follower.part-stored', progress);
  }
}
