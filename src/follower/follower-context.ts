/** Context of a pass of the follower, and the memory that passes leave to those after them. */
import type { Database } from '../ledger/core/database.ts';
import { isDatabaseFull } from '../ledger/core/database-size.ts';
import { LedgerMoved } from '../ledger/core/fence.ts';
import { measureDatabase } from '../ledger/core/wrap-database.ts';
import type { LedgerPart } from '../ledger/ledger-part.ts';
import {
  createUnreferencedIndex,
  type UnreferencedIndex,
} from '../ledger/write/unreferenced-index.ts';
import { takeTurns, untilSettled } from '../platform/clock.ts';
import { createDedupedLog, describeError, type WriteLog } from '../platform/log.ts';
import { isAdmittedUnasked } from '../stardust/admission.ts';
import type { MilestoneKeys, VerifySignature } from '../stardust/milestone-keys.ts';
import type { ParsedBlock } from '../stardust/wire/block.ts';
import type { ProtocolParameters } from '../stardust/wire/parameters.ts';
import { createRanking, type Ranking } from '../upstream/ask-in-turn.ts';
import {
  type BlockIds,
  createBlockIds,
  type OfLedgerIndex,
  ofLedgerIndex,
} from '../upstream/block-ids.ts';
import { type BlockPool, createBlockPool } from '../upstream/block-pool.ts';
import { type Upstream, UpstreamFailure } from '../upstream/upstream.ts';
import { createFollowerCounts, type FollowerCounts } from './follower-counts.ts';
import type { LedgerPosition } from './ledger-position.ts';
import { createPushedMilestones, type PushedMilestones } from './pushed/pushed-milestones.ts';
import { createSteps, type RunStep } from './steps.ts';
import type { SaidReferences } from './store/leave-out.ts';
import { createProgress, type Progress } from './store/progress.ts';
import { countMet, MET_HEAP_BYTES, type MissingCone } from './store/store-cone.ts';
import type { Announce } from './store/store-unreferenced.ts';

export interface FollowerContext {
  db: Database;
  /** Upstreams in order of preference; never empty. */
  upstreams: readonly Upstream[];
  keys: MilestoneKeys;
  verify: VerifySignature;
  memory: FollowerMemory;
  /** Whether a feed brings messages at this moment. */
  isFed?: () => boolean;
  /** Called after each milestone and pass. `behind`: the next milestone is there. */
  publish: (behind: boolean) => Promise<void>;
  announce?: ((index: number) => void) | undefined;
  /** Milestones before the ledger's whose states are kept. */
  retention: number;
  keepsHistory?: boolean | undefined;
  /** Parts of modules in the ledger. */
  ledgerParts?: readonly LedgerPart[];
  /** Bytes that the database may have; absent: only the disk limits it. */
  databaseLimit?: number | undefined;
  /** Whether INDEX is `all`; absent: lists are left as they are. */
  indexAll?: boolean | undefined;
  /** Last milestone of the network; absent while the network goes on. */
  finalMilestone?: number | undefined;
  /** Upkeep of modules, by name. */
  moduleUpkeep?: Readonly<Record<string, Upkeep>>;
}

export type UpkeepContext = Omit<FollowerContext, 'keys' | 'isFed' | 'publish' | 'announce'>;

/** Work of a pass besides following (upkeep.ts). */
export interface Upkeep {
  /** Logged where it fails. */
  failure: string;
  /** Whether nothing more is to be done right away. */
  run: (context: UpkeepContext) => Promise<boolean>;
}

/**
 * Takes what was pushed: the bytes of a `block`, the payload of a `milestone`, type first, or JSON
 * about the milestone that the upstream has `confirmed`.
 */
export type TakePushed = (kind: 'block' | 'milestone' | 'confirmed', pushed: Uint8Array) => void;

/** Memory kept from pass to pass. If it is lost, only time is lost with it. */
export interface FollowerMemory {
  /** Runs whatever reads the ledger in order to write it. */
  step: RunStep;
  /** The ledger as it was read last; before that nothing pushed is taken. */
  lastLedger: LastLedger | undefined;
  /** IDs of the unreferenced blocks that are stored. */
  index: UnreferencedIndex;
  /** Blocks that are not stored yet, kept over passes: a large past cone is fetched in several. */
  pool: BlockPool;
  /** Heap of the blocks that walks hold and have not stored yet (store/gather-blocks.ts). */
  fetched: { heap: number };
  milestones: PushedMilestones;
  /** Missing parts of the next milestone's past cone, by whose word they end: the last one first. */
  missing: readonly MissingCone[];
  progress: Progress;
  upstreams: UpstreamMemory;
  /** The last passes, if they failed or got nowhere (follower-status.ts). */
  failed: FailedPasses | undefined;
  tips: {
    /** Whether something is near the tips that was not pushed, or that its parents do not prove. */
    hasLooseEnds: boolean;
    /** Unix milliseconds of the last look at an upstream's tips. */
    lookedAt: number;
    /** Tops of walks of tips, by upstream, each where the one before was cut off (store-tips.ts). */
    cut: OfLedgerIndex<Uint8Array[][]>;
    /** Number of passes that leave tips alone, after one that stored some. */
    passesToRest: number;
    /** Unix milliseconds at which the newest block was stored. */
    newestBlock: number | undefined;
  };
  upkeep: {
    /** Unreferenced blocks that may still be stored (drop-blocks.ts); undefined until measured. */
    room: number | undefined;
    /** Unix milliseconds of the last eviction, and how long there is no further one. */
    eviction: { ended: number; pause: number };
    /** Whether all blocks that requests see leave, as a milestone's had no room beside them. */
    isCrowded: boolean;
    /** Whether a write failed for want of room since pruning was tried last. */
    isDatabaseFull: boolean;
    /** Unix milliseconds when the last step of the scrub ended, or this object began. */
    scrubbedAt: number;
  };
  /** Log of events that each pass may repeat. */
  log: WriteLog;
  /** Receives new blocks, if somebody listens. */
  announce: Announce | undefined;
  /** Queries that D1 answered, each statement of a batch, and operations on KV. */
  queries: number;
  /** {@link queries} before the alarm whose invocation the passes are of. */
  queriesBefore: number;
  counts: FollowerCounts;
  /** Whether a pass of this object saved the follower's state, or marked an earlier object's. */
  hasState: boolean;
}

interface UpstreamMemory {
  /** Order of upstreams: the one that took the ledger to where it is comes first. */
  ranking: Ranking;
  /** Unix milliseconds of the ledger's milestone. */
  issuedAt: number;
  /** Unix milliseconds of the same, or of the last look at all upstreams if that is later. */
  lookedAroundAt: number;
  /** Unix milliseconds when the heads of those that a pass did not ask were read. */
  countedAt: number;
  /** Times, by name, that one has left what is stored by another's word since it dropped that. */
  spared: OfLedgerIndex<Map<string, number>>;
  /** Words of upstreams, by name, about what may be left out, until all is said. */
  asked: OfLedgerIndex<Map<string, SaidReferences>>;
  /** Names of those whose walk met too many blocks: they are asked last. */
  astray: OfLedgerIndex<Set<string>>;
  /** Ledger index at which a slow one was left: once, as each walks by itself. */
  leftAt?: number | undefined;
  /** Why an upstream diverges, until the ledger moves on or is another one, or none diverges. */
  diverged: string | undefined;
  /** The network and its token, as one upstream named both, in the form of outputs' contents. */
  token: string | undefined;
  /** References of unknown blocks, as upstreams said. */
  said: OfLedgerIndex<SaidOfBlocks>;
}

export interface FailedPasses {
  /** {@link Progress.times} then: passes before progress do not count. */
  progress: number;
  times: number;
  /** Why the last one failed, or what it waited for: for people. */
  reason: string;
}

export interface SaidOfBlocks {
  unreferenced: BlockIds;
  referenced: BlockIds;
}

export interface AppliedMilestone {
  index: number;
  blocks: number;
  /** Number of these that D1 did not have when the milestone came. */
  fetched: number;
}

export interface LastLedger {
  generation: string;
  ledger: number;
  /** Progress of filling the lists of every kind (`head.indexed`). */
  indexed: string;
  parameters: readonly ProtocolParameters[];
}

/** Milliseconds for which a block counts as referenced because an upstream said so. */
const REFERENCED_MS = 10_000;

/** IDs of blocks that upstreams called referenced or unreferenced: 4 MB together. */
const MAX_SAID = 12_500;

/**
 * Heap for blocks that are not stored yet, of the pool and of walks: more than two seconds of a busy
 * network. They have less where more is unreferenced: what a milestone reads takes the heap then.
 */
const MAX_POOL_HEAP_BYTES = 34_000_000;
const MIN_POOL_HEAP_BYTES = 4_000_000;
const MAX_HEAP_BYTES = 80_000_000;

/** Heap for blocks that are not stored yet. */
export const heapForBlocks = ({ index, missing }: Pick<FollowerMemory, 'index' | 'missing'>) => {
  const met = missing.reduce((sum, cone) => sum + MET_HEAP_BYTES * countMet(cone), 0);
  return Math.max(2 * MIN_POOL_HEAP_BYTES, MAX_HEAP_BYTES - index.heap() - met);
};

export function createFollowerMemory(maxPoolHeapBytes = MAX_POOL_HEAP_BYTES): FollowerMemory {
  // before a ledger was read nothing is admitted
  const isAdmitted = (block: ParsedBlock) =>
    isAdmittedUnasked(block, memory.lastLedger?.parameters ?? []);
  const memory: FollowerMemory = {
    step: createSteps(Date.now),
    lastLedger: undefined,
    index: createUnreferencedIndex(),
    pool: createBlockPool(maxPoolHeapBytes, isAdmitted, () => {
      const forBoth = Math.min(maxPoolHeapBytes, heapForBlocks(memory));
      const left = Math.max(MIN_POOL_HEAP_BYTES, forBoth - memory.fetched.heap);
      return Math.min(maxPoolHeapBytes, left);
    }),
    fetched: { heap: 0 },
    milestones: createPushedMilestones(),
    missing: [],
    upstreams: {
      ranking: createRanking(Date.now),
      issuedAt: 0,
      lookedAroundAt: 0,
      countedAt: 0,
      spared: ofLedgerIndex(() => new Map()),
      asked: ofLedgerIndex(() => new Map()),
      astray: ofLedgerIndex(() => new Set()),
      diverged: undefined,
      token: undefined,
      said: ofLedgerIndex(() => ({
        unreferenced: createBlockIds(Date.now, MAX_SAID),
        referenced: createBlockIds(Date.now, MAX_SAID, REFERENCED_MS),
      })),
    },
    progress: createProgress(),
    failed: undefined,
    tips: {
      hasLooseEnds: false,
      lookedAt: 0,
      cut: ofLedgerIndex(() => []),
      passesToRest: 0,
      newestBlock: undefined,
    },
    upkeep: {
      room: undefined,
      eviction: { ended: 0, pause: 0 },
      isCrowded: false,
      isDatabaseFull: false,
      scrubbedAt: 0,
    },
    log: createDedupedLog(Date.now),
    announce: undefined,
    queries: 0,
    queriesBefore: 0,
    counts: createFollowerCounts(Date.now()),
    hasState: false,
  };
  return memory;
}

/** The follower's database: counts rows, notes that it is full, lets requests in between calls. */
export function watchDatabase(db: Database, memory: FollowerMemory): Database {
  const endStep = takeTurns();
  async function waitFor<T>(run: Promise<T>): Promise<T> {
    try {
      return await untilSettled(run, 'D1');
    } catch (error) {
      if (isDatabaseFull(error)) memory.upkeep.isDatabaseFull = true;
      throw error;
    } finally {
      await endStep();
    }
  }
  const count = ({ rows_written }: D1Meta) => {
    memory.queries++;
    memory.counts.rowsWritten += rows_written;
  };
  return measureDatabase(db, count, waitFor);
}

/** Whether no more unreferenced blocks may be stored, as far as that was measured. */
export const isFull = ({ upkeep }: FollowerMemory): boolean =>
  upkeep.room !== undefined && upkeep.room <= 0;

export function takePushed(
  { pool, milestones }: FollowerMemory,
  ...[kind, pushed]: Parameters<TakePushed>
): void {
  if (kind === 'block') pool.push(pushed, Date.now());
  else if (kind === 'milestone') milestones.push(pushed);
  else milestones.confirm(pushed);
}

/** Drops what was pushed: it does not count for another ledger, nor for one that is over. */
export function dropPushed({ pool, milestones }: FollowerMemory): void {
  pool.clear();
  milestones.clear();
}

/** Logs why work was not done. Another follower that was first is no failure. */
export function logFailure(log: WriteLog, event: string, error: unknown, fields = {}): void {
  if (error instanceof LedgerMoved) log('info', 'follower.ledger-moved', { detail: error.message });
  else if (error instanceof UpstreamFailure)
    log('warn', event, { ...fields, error: error.message });
  else log('warn', event, { ...fields, error: describeError(error) });
}

/**
 * Notes where the ledger stands; on another ledger, drops what was pushed. The first read is no
 * progress, but ends a row of passes that could not read it.
 */
export function noteLedger(memory: FollowerMemory, position: LedgerPosition): void {
  const { generation, ledger, indexed } = position.head;
  const last = memory.lastLedger;
  if (last !== undefined && last.generation !== generation) dropPushed(memory);
  const isDue = (cone: MissingCone) => cone.generation === generation && cone.index > ledger;
  memory.missing = memory.missing.filter(isDue);
  const { upstreams } = memory;
  upstreams.issuedAt = position.milestone.timestamp * 1000;
  if (last === undefined) memory.failed = undefined;
  else if (last.generation !== generation || last.ledger !== ledger) {
    memory.progress.beginAnew();
    upstreams.diverged = undefined;
    // a look at all upstreams counts, though the milestone may be old
    upstreams.lookedAroundAt = Math.max(upstreams.lookedAroundAt, upstreams.issuedAt);
  }
  memory.lastLedger = { generation, ledger, indexed, parameters: position.rules.parameters };
  memory.milestones.applied(ledger);
}
