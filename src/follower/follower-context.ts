/**
 * What a pass of the follower works with, and what passes leave to those after them.
 */
import type { Database } from '../ledger/database.ts';
import type { MilestoneKeys, VerifySignature } from '../stardust/milestone-keys.ts';
import {
  createBlockCache,
  createOpenBlockCache,
  type MeasuredBlockCache,
  type OpenBlockCache,
} from '../upstream/block-cache.ts';
import { createRanking, type Ranking } from '../upstream/ranking.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { createExclusively, type Exclusively } from './exclusively.ts';
import { createFollowerCounts, type FollowerCounts } from './follower-counts.ts';

export interface FollowerContext {
  db: Database;
  /** In order of preference; never empty. */
  upstreams: readonly Upstream[];
  keys: MilestoneKeys;
  verify: VerifySignature;
  memory: FollowerMemory;
  /**
   * Called after each milestone that was applied, and at the end of the pass. `behind`: the next
   * milestone is known to be there already.
   */
  publish: (behind: boolean) => Promise<void>;
  /** Milestones before the ledger's whose states are kept. */
  retention: number;
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
  /** When `fetched` takes more heap than this after a pass, it is cleared. */
  maxFetchedHeapBytes: number;
  /** Those of the fetched blocks that were found to be open. */
  open: OpenBlockCache;
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
  /** For GET /metrics. */
  counts: FollowerCounts;
}

/** Some 6,000 transactions; an isolate has 128 MB. With more, the next pass begins anew. */
const MAX_FETCHED_HEAP_BYTES = 48_000_000;

/** Heap for open blocks that wait to be stored. */
const MAX_OPEN_HEAP_BYTES = 24_000_000;

export function createFollowerMemory(maxFetchedHeapBytes = MAX_FETCHED_HEAP_BYTES): FollowerMemory {
  return {
    fetched: createBlockCache(),
    maxFetchedHeapBytes,
    open: createOpenBlockCache(MAX_OPEN_HEAP_BYTES),
    exclusively: createExclusively(),
    ranking: createRanking(Date.now),
    moved: 0,
    diverged: undefined,
    counts: createFollowerCounts(Date.now()),
  };
}
