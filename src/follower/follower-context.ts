/**
 * What a pass of the follower works with, and what passes leave to those after them.
 */
import { hasPassed } from '../clock.ts';
import type { Database } from '../ledger/core/database.ts';
import {
  createUnreferencedIndex,
  type UnreferencedIndex,
} from '../ledger/write/unreferenced-index.ts';
import { createSparingLog, type WriteLog, writeLog } from '../log.ts';
import { unaskedFault } from '../stardust/admission.ts';
import type { MilestoneKeys, VerifySignature } from '../stardust/milestone-keys.ts';
import type { ProtocolParameters } from '../stardust/wire/parameters.ts';
import {
  type BlockIds,
  createFetchedCache,
  createUnreferencedIdCache,
  type FetchedCache,
  type FetchedLimits,
} from '../upstream/block-cache.ts';
import { createRanking, type Ranking } from '../upstream/ranking.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { createFollowerCounts, type FollowerCounts } from './follower-counts.ts';
import type { LedgerPosition } from './ledger-position.ts';
import { createMutex, type Mutex } from './mutex.ts';
import { createPushed, type Pushed } from './pushed/pushed.ts';
import type { MissingCone } from './store/store-cone.ts';

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
  fetched: FetchedCache;
  /** What is missing of the next milestone's past cone, while it is fetched and stored. */
  missing: MissingCone | undefined;
  /** Those of the fetched blocks that an upstream called unreferenced. */
  unreferenced: (generation: string, ledger: number) => BlockIds;
  /** IDs of the unreferenced blocks that are stored. */
  index: UnreferencedIndex;
  /**
   * Hex IDs of blocks that an upstream said are referenced, though they are not known here: of one
   * milestone, and for a while only, as upstreams may be wrong.
   */
  refused: Set<string>;
  /** Unix milliseconds at which that set was cleared. */
  clearedRefused: number;
  /** Passes that run beside each other take turns at what they read in order to write it. */
  mutex: Mutex;
  /** Which upstream to ask first: the one that took the ledger to where it is. */
  ranking: Ranking;
  /** An upstream that had confirmed the ledger's milestone when the last pass asked it. */
  level: Upstream | undefined;
  /** Unix milliseconds of the last milestone applied, or of the last look at all upstreams. */
  moved: number;
  /**
   * Why an upstream was found to diverge. It is cleared when another upstream agrees with us on the
   * next milestone, or when all upstreams were asked and none diverges.
   */
  diverged: string | undefined;
  /** When blocks were evicted last, Unix milliseconds, and for how many they are not again. */
  eviction: { ended: number; pause: number };
  /** For what each pass may have to say again. */
  log: WriteLog;
  /**
   * Whether a pass of this object has saved how the follower is doing, or marked what an earlier
   * object saved.
   */
  hasState: boolean;
  /** For GET /metrics. */
  counts: FollowerCounts;
  /** Pushed blocks and milestones that are not stored yet. */
  pushed: Pushed;
  /** Where the ledger stood when it was read last; before that nothing pushed is taken. */
  seen: SeenLedger | undefined;
  /** Whether something is near the tips that was not pushed, or that its parents do not prove. */
  hasLooseEnds: boolean;
  /** Unix milliseconds of the last look at an upstream's tips. */
  lookedAtTips: number;
  /** Unix milliseconds at which the newest block was stored. */
  newestBlock: number | undefined;
  /** Whether a write failed for want of room since pruning was tried last. */
  isDatabaseFull: boolean;
}

export interface AppliedMilestone {
  index: number;
  blocks: number;
  /** Of those, how many D1 did not have when the milestone came. */
  fetched: number;
}

export interface SeenLedger {
  generation: string;
  ledger: number;
  /** What pushed blocks are judged by. */
  parameters: readonly ProtocolParameters[];
}

/**
 * How long a block is left out because an upstream called it referenced: then all are asked again.
 */
const REFUSED_MS = 10_000;

/** Heap for IDs of blocks that an upstream called unreferenced. */
const MAX_UNREFERENCED_ID_BYTES = 4_000_000;

/** Heap for what a feed brought: more than a second of a busy network. */
const MAX_PUSHED_HEAP_BYTES = 16_000_000;

/** @param milestoneCame called when a feed brought a milestone, or word that one is confirmed */
export function createFollowerMemory(
  milestoneCame: () => void = () => {},
  fetchedLimits?: FetchedLimits,
): FollowerMemory {
  const fault: Parameters<typeof createPushed>[0]['fault'] = (block) => {
    const faults = (memory.seen?.parameters ?? []).map((each) => unaskedFault(block, each));
    // without parameters nothing is taken
    return faults.includes(undefined) ? undefined : (faults[0] ?? 'no ledger was read yet');
  };
  const memory: FollowerMemory = {
    fetched: createFetchedCache(fetchedLimits),
    missing: undefined,
    unreferenced: createUnreferencedIdCache(MAX_UNREFERENCED_ID_BYTES),
    index: createUnreferencedIndex(),
    refused: new Set(),
    clearedRefused: 0,
    mutex: createMutex(),
    ranking: createRanking(Date.now),
    level: undefined,
    eviction: { ended: 0, pause: 0 },
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
  applied: AppliedMilestone,
  { started, ...how }: { started: number; pushed?: true },
): void {
  memory.moved = Date.now();
  memory.counts.milestones++;
  writeLog('info', 'follower.milestone-applied', { ...applied, ...how, ms: Date.now() - started });
}

/** Notes where the ledger stands: of another ledger nothing that was pushed counts. */
export function noteLedger(memory: FollowerMemory, { head, rules }: LedgerPosition): void {
  const { generation, ledger } = head;
  if (memory.seen !== undefined && memory.seen.generation !== generation) memory.pushed.clear();
  const now = Date.now();
  if (memory.seen?.ledger !== ledger || hasPassed(REFUSED_MS, memory.clearedRefused, now)) {
    memory.refused.clear();
    memory.clearedRefused = now;
  }
  if (memory.missing?.generation !== generation || memory.missing.index <= ledger)
    memory.missing = undefined;
  memory.seen = { generation, ledger, parameters: rules.parameters };
  memory.pushed.milestones.applied(ledger);
}
