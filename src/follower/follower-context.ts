/**
 * What a pass of the follower works with, and what passes leave to those after them.
 */
import type { Database } from '../ledger/database.ts';
import { createOpenSet, type OpenSet } from '../ledger/open-set.ts';
import { createSparingLog, type WriteLog, writeLog } from '../log.ts';
import { unaskedFault } from '../stardust/admission.ts';
import type { MilestoneKeys, VerifySignature } from '../stardust/milestone-keys.ts';
import type { ProtocolParameters } from '../stardust/parameters.ts';
import {
  createBlockCache,
  createOpenBlockCache,
  type MeasuredBlockCache,
  type OpenBlockCache,
} from '../upstream/block-cache.ts';
import { createPushed, type Pushed } from '../upstream/feed/pushed.ts';
import { createRanking, type Ranking } from '../upstream/ranking.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { TakenIn } from './apply-milestone.ts';
import { createExclusively, type Exclusively } from './exclusively.ts';
import { createFollowerCounts, type FollowerCounts } from './follower-counts.ts';
import type { LedgerPosition } from './ledger-position.ts';
import type { LargeCone } from './store-cone.ts';

export interface FollowerContext {
  db: Database;
  /** In order of preference; never empty. */
  upstreams: readonly Upstream[];
  keys: MilestoneKeys;
  verify: VerifySignature;
  memory: FollowerMemory;
  /** Whether a feed brings messages at this moment. */
  isFed?: () => boolean;
  /**
   * Called after each milestone that was applied, and at the end of the pass. `behind`: the next
   * milestone is known to be there already.
   */
  publish: (behind: boolean) => Promise<void>;
  /** Milestones before the ledger's whose states are kept. */
  retention: number;
  /** Bytes that the database may have; absent: only the disk limits it. */
  databaseLimit?: number | undefined;
  /** The ledger does not go beyond it; absent while the network goes on. */
  finalMilestone?: number | undefined;
}

/** Kept from pass to pass. If it is lost, only time is lost with it. */
export interface FollowerMemory {
  /**
   * Blocks fetched and not stored yet. They outlive a pass that failed or came to the end of its
   * budget, so that a past cone too large for one pass is fetched over several.
   */
  fetched: MeasuredBlockCache;
  /**
   * When `fetched` takes more heap than this after a pass, it is cleared; when it does while a past
   * cone is fetched, that one is stored in parts.
   */
  maxFetchedHeapBytes: number;
  /** The most blocks stored in one go of a past cone that is stored in parts. */
  maxStored: number;
  /** The next milestone's past cone, where it is too large to be held (store-cone.ts). */
  large: LargeCone | undefined;
  /** Those of the fetched blocks that were found to be open. */
  open: OpenBlockCache;
  /** What is remembered of the open blocks that are stored. */
  openSet: OpenSet;
  /**
   * Hex IDs of blocks that an upstream said are referenced, though they are not known here: of one
   * milestone, as upstreams may be wrong.
   */
  refused: Set<string>;
  /** Passes that run beside each other take turns at what they read in order to write it. */
  exclusively: Exclusively;
  /** Which upstream to ask first: the one that took the ledger to where it is. */
  ranking: Ranking;
  /** Unix milliseconds of the last milestone applied, or of the last look at all upstreams. */
  moved: number;
  /**
   * Why an upstream was found to diverge. It is forgotten when another upstream agrees with us on
   * the next milestone, or when all upstreams were asked and none diverges.
   */
  diverged: string | undefined;
  /** For what each pass may have to say again. */
  log: WriteLog;
  /**
   * Whether a pass of this object has saved how the follower is doing, or marked what an earlier
   * object saved.
   */
  hasState: boolean;
  /** For GET /metrics. */
  counts: FollowerCounts;
  /** What a feed brought and is not stored yet. */
  pushed: Pushed;
  /** Where the ledger stood when it was read last; before that nothing pushed is taken. */
  seen: SeenLedger | undefined;
  /** Whether something is near the tips that the feed did not bring, or that its parents leave open. */
  hasLooseEnds: boolean;
  /** Unix milliseconds of the last look at an upstream's tips. */
  lookedAtTips: number;
  /** Unix milliseconds at which the newest block was stored. */
  newestBlock: number | undefined;
  /** Whether a write failed for want of room since pruning was tried last. */
  isDatabaseFull: boolean;
}

export interface SeenLedger {
  generation: string;
  ledger: number;
  /** What pushed blocks are judged by. */
  parameters: readonly ProtocolParameters[];
}

/** Some 5,000 transactions; an isolate has 128 MB. */
const MAX_FETCHED_HEAP_BYTES = 24_000_000;

/** Blocks of a part of a large cone. */
const MAX_PART = 1000;

/** Heap for open blocks that an upstream was asked about and that wait to be stored. */
const MAX_OPEN_HEAP_BYTES = 12_000_000;

/** Heap for what is remembered of stored blocks: some 25,000 transactions. */
const MAX_OPEN_SET_HEAP_BYTES = 20_000_000;

/** Heap for what a feed brought: more than a second of a busy network. */
const MAX_PUSHED_HEAP_BYTES = 16_000_000;

/** @param milestoneCame called when a feed brought a milestone, or word that one is confirmed */
export function createFollowerMemory(
  maxFetchedHeapBytes = MAX_FETCHED_HEAP_BYTES,
  milestoneCame: () => void = () => {},
): FollowerMemory {
  const fault: Parameters<typeof createPushed>[0]['fault'] = (block) => {
    const faults = (memory.seen?.parameters ?? []).map((each) => unaskedFault(block, each));
    // without parameters nothing is taken
    return faults.includes(undefined) ? undefined : (faults[0] ?? 'no ledger was read yet');
  };
  const memory: FollowerMemory = {
    fetched: createBlockCache(),
    maxFetchedHeapBytes,
    maxStored: MAX_PART,
    large: undefined,
    open: createOpenBlockCache(MAX_OPEN_HEAP_BYTES),
    openSet: createOpenSet(MAX_OPEN_SET_HEAP_BYTES),
    refused: new Set(),
    exclusively: createExclusively(),
    ranking: createRanking(Date.now),
    moved: 0,
    diverged: undefined,
    log: createSparingLog(Date.now),
    hasState: false,
    counts: createFollowerCounts(Date.now()),
    pushed: createPushed({ maxHeapBytes: MAX_PUSHED_HEAP_BYTES, fault }, Date.now, milestoneCame),
    seen: undefined,
    hasLooseEnds: false,
    lookedAtTips: 0,
    newestBlock: undefined,
    isDatabaseFull: false,
  };
  return memory;
}

/** Notes that a milestone was applied, and says so. `started`: Unix milliseconds. */
export function noteApplied(
  memory: FollowerMemory,
  applied: TakenIn,
  { started, ...how }: { started: number; pushed?: true },
): void {
  for (const id of applied.fetched) memory.fetched.delete(id);
  memory.moved = Date.now();
  memory.counts.milestones++;
  const said = { ...applied, fetched: applied.fetched.length, ...how };
  writeLog('info', 'milestone applied', { ...said, ms: Date.now() - started });
}

/** Notes where the ledger stands: of another ledger nothing that was pushed counts. */
export function noteLedger(memory: FollowerMemory, { head, rules }: LedgerPosition): void {
  const { generation, ledger } = head;
  if (memory.seen !== undefined && memory.seen.generation !== generation) memory.pushed.clear();
  if (memory.seen?.ledger !== ledger) memory.refused.clear();
  if (memory.large?.generation !== generation || memory.large.index <= ledger)
    memory.large = undefined;
  memory.seen = { generation, ledger, parameters: rules.parameters };
  memory.pushed.milestones.applied(ledger);
}
