/**
 * One pass of following: from where the ledger stands to where the upstream is, within budgets (design §5).
 *
 * A pass may be cut off anywhere. What it has done is in D1, each milestone whole; the next pass begins by reading it.
 */

import type { AdmissionRules } from '../ledger/admission-rules.ts';
import { ConeUnavailable } from '../ledger/block-source.ts';
import { type Database, runBatch } from '../ledger/database.ts';
import { LedgerMoved } from '../ledger/fence.ts';
import {
  type Head,
  headFromRow,
  type KnownMilestone,
  milestoneFromRow,
  SELECT_HEAD,
} from '../ledger/head.ts';
import {
  admittingParameters,
  parameterTable,
  SELECT_PARAMETERS,
} from '../ledger/ledger-parameters.ts';
import { prune } from '../ledger/prune.ts';
import { refuseOldLedger } from '../ledger/schema.ts';
import { describeError, writeLog } from '../log.ts';
import type { ParsedBlock } from '../stardust/block.ts';
import type { MilestoneKeys, VerifySignature } from '../stardust/milestone-keys.ts';
import { createRanking, type Ranking } from '../upstream/ask-in-turn.ts';
import { milestoneSource } from '../upstream/fetch-blocks.ts';
import { FetchedBlocks } from '../upstream/fetched-blocks.ts';
import { createBlockMemory } from '../upstream/open-block-cache.ts';
import { type Upstream, UpstreamFailure, type UpstreamHeads } from '../upstream/upstream.ts';
import { takeInMilestone } from './apply-milestone.ts';
import { createExclusively, type Exclusively } from './exclusively.ts';
import { saveFollowerState, stopFollowing } from './follower-status.ts';
import { storeTips } from './store-tips.ts';
import { Divergence, verifyMilestone } from './verify-milestone.ts';

export interface Following {
  db: Database;
  /** In order of preference; never empty. */
  upstreams: readonly Upstream[];
  keys: MilestoneKeys;
  verify: VerifySignature;
  memory: PassMemory;
  /** Called after each milestone that was applied, and at the end of the pass; `behind` where the next milestone is known to be there already. */
  publish: (behind: boolean) => Promise<void>;
  /** Milestones before the ledger's whose states are kept. */
  retention: number;
}

/** What passes leave to those after them; nothing is lost with it but time. */
export interface PassMemory {
  /** Blocks fetched and not stored yet. */
  fetched: FetchedBlocks;
  /** Those of them that were found to be open, by ledger. */
  open: ReturnType<typeof createBlockMemory>;
  /** Two kinds of pass run beside each other, and take turns at what they read to write it. */
  exclusively: Exclusively;
  /** The upstream that took the ledger to where it is comes first. */
  ranking: Ranking;
  /** Unix milliseconds of the last milestone applied, or of the last look at all upstreams since. */
  moved: number;
  /** Why an upstream was found to diverge, until another one agrees with us on the next milestone, or none of them diverges. */
  diverged: string | undefined;
}

/** Bytes of heap for open blocks that wait to be stored. */
const MAX_REMEMBERED = 24_000_000;

export function createPassMemory(): PassMemory {
  return {
    fetched: new FetchedBlocks(),
    open: createBlockMemory(MAX_REMEMBERED),
    exclusively: createExclusively(),
    ranking: createRanking(Date.now),
    moved: 0,
    diverged: undefined,
  };
}

export interface PassBudget {
  /** Unix milliseconds after which no milestone is begun, but an upstream's first: another one may have used up the time. */
  deadline: number;
  /** Milestones in one pass. */
  milestones: number;
  /** Blocks fetched for them; what is left of a cone is left to the next pass. Absent: as many as there are. */
  fetches?: number;
  /** Whether to leave out what is not urgent: storing tips, pruning. */
  milestonesOnly?: boolean;
}

export interface PassResult {
  applied: number;
  /** More to do right away. */
  behind: boolean;
}

/** Milliseconds to fetch the blocks of one milestone. */
const MILESTONE_TIMEOUT = 60_000;

/** Bytes of heap for blocks that are kept from pass to pass, some 6,000 transactions; an isolate has 128 MB. With more, the next pass begins anew. */
const MAX_KEPT_HEAP = 48_000_000;

/**
 * Milliseconds without a milestone after which the other upstreams' heads are looked at, and again and again: ours may be one that stands still. A network makes one
 * in five seconds or ten, so that while all is well nobody else is asked.
 */
const LOOK_AROUND = 15_000;

/** A pass under way. */
interface Pass {
  budget: PassBudget;
  applied: number;
  /** Blocks that may still be fetched. */
  fetches: number;
  /** Since the last milestone applied: why an upstream diverges, and the first upstream that is where the ledger is, with nothing newer. */
  diverged?: string | undefined;
  level?: { place: number; at: Position } | undefined;
}

export async function followOnce(following: Following, budget: PassBudget): Promise<PassResult> {
  try {
    const result = await followAny(following, budget);
    await following.publish(result.behind);
    return result;
  } catch (error) {
    if (!(error instanceof LedgerMoved)) throw error;
    // somebody else is at work: to go on at once would only be in the way
    writeLog('info', 'ledger moved', { detail: error.message });
    return { applied: 0, behind: false };
  } finally {
    const { fetched } = following.memory;
    if (fetched.heap > MAX_KEPT_HEAP) {
      writeLog('warn', 'too many blocks to keep', { blocks: fetched.size });
      fetched.clear();
    }
    // after a failure too: what goes may be what a pass fails at
    if (!budget.milestonesOnly) await pruneIfPossible(following);
  }
}

/** Asks one upstream after the other until one takes the ledger on, or is where the ledger is and it is not yet time to look at the others. */
async function followAny(following: Following, budget: PassBudget): Promise<PassResult> {
  const { db, upstreams, memory } = following;
  const pass: Pass = { budget, applied: 0, fetches: budget.fetches ?? Number.POSITIVE_INFINITY };
  const lookAround = Date.now() - memory.moved >= LOOK_AROUND;
  if (lookAround) memory.moved = Date.now();
  let latest: UpstreamHeads['latest'] | undefined;
  let asked = 0;
  let behind = false;
  for (const place of memory.ranking.order(upstreams.length)) {
    const upstream = upstreams[place]!;
    asked++;
    try {
      const heads = await upstream.readHeads();
      if (heads.latest.index >= (latest?.index ?? 0)) latest = heads.latest;
      const before = pass.applied;
      const reached = await followUpstream(following, upstream, heads.confirmed, pass);
      if (reached === 'stopped') return { applied: pass.applied, behind: false };
      behind = reached === 'spent';
      if (typeof reached === 'object') pass.level ??= { place, at: reached };
      const tookOn = behind || pass.applied > before;
      if (tookOn) memory.ranking.beginWith(place);
      if (tookOn || (pass.level !== undefined && !lookAround)) break;
    } catch (error) {
      if (!isUpstreams(error)) throw error;
      if (error instanceof Divergence) {
        pass.diverged = error.message;
        // what it sent may be what is wrong: the next try asks afresh
        memory.fetched.clear();
      }
      writeLog('warn', error instanceof Divergence ? 'upstream diverges' : 'upstream fails', {
        upstream: upstream.name,
        detail: error.message,
      });
    }
  }
  if (pass.level !== undefined && !behind) {
    const { place, at } = pass.level;
    memory.ranking.beginWith(place);
    if (!budget.milestonesOnly) await storeTipsIfPossible(following, upstreams[place]!, at);
  }
  if (pass.diverged !== undefined || pass.applied > 0 || asked === upstreams.length)
    memory.diverged = pass.diverged;
  if (memory.diverged !== undefined)
    await saveFollowerState(db, { state: 'diverged', reason: memory.diverged });
  else if (latest !== undefined)
    await saveFollowerState(db, { state: 'following', upstream: latest });
  return { applied: pass.applied, behind };
}

function isUpstreams(error: unknown): error is Error {
  return [Divergence, UpstreamFailure].some((kind) => error instanceof kind);
}

/** Takes milestones in up to the upstream's. Where that leads: to where both are level, to the end of the budget, to a stop; `ahead`: the ledger is, of the upstream. */
async function followUpstream(
  following: Following,
  upstream: Upstream,
  confirmed: number,
  pass: Pass,
): Promise<Position | 'ahead' | 'spent' | 'stopped'> {
  const { db } = following;
  const { budget, applied: before } = pass;
  let at = await readPosition(db, following);
  while (at.head.ledger < confirmed) {
    if (at.unsupported !== undefined) {
      await stopFollowing(db, `protocol version ${at.unsupported} is not known here`);
      return 'stopped';
    }
    if (
      pass.applied >= budget.milestones ||
      (pass.applied > before && Date.now() > budget.deadline)
    )
      return 'spent';
    try {
      await takeInNext(following, upstream, at, pass);
    } catch (error) {
      if (error instanceof ConeUnavailable && error.fault === 'over-budget') return 'spent';
      throw error;
    }
    at = await readPosition(db, following);
    await following.publish(at.head.ledger < confirmed);
  }
  return at.head.ledger === confirmed ? at : 'ahead';
}

/** Tips are stored to save requests the fetching; whatever is in the way of it holds nothing up. */
async function storeTipsIfPossible(
  { db, memory: { fetched, open, exclusively } }: Following,
  upstream: Upstream,
  { head, rules }: Position,
): Promise<void> {
  try {
    const remembered = open(head.generation, head.ledger);
    await storeTips(db, head, { upstream, rules, open: remembered, fetched, exclusively });
  } catch (error) {
    writeLog('warn', 'tips not stored', { upstream: upstream.name, error: describeError(error) });
  }
}

/** What is not pruned now will be by a later pass. */
async function pruneIfPossible({ db, retention, memory }: Following): Promise<void> {
  try {
    await memory.exclusively(() => prune(db, retention));
  } catch (error) {
    writeLog('warn', 'not pruned', { error: describeError(error) });
  }
}

interface Position {
  head: Head;
  milestone: KnownMilestone;
  rules: AdmissionRules;
  /** A protocol version that the next milestone may bring and whose rules we do not know. */
  unsupported: number | undefined;
}

async function readPosition(db: Database, { keys, verify }: Following): Promise<Position> {
  const [heads, options] = await runBatch(db, [
    db.prepare(SELECT_HEAD).bind(null),
    db.prepare(SELECT_PARAMETERS),
  ]);
  const row = heads![0];
  if (row === undefined) {
    await refuseOldLedger(db);
    throw new Error('nothing to follow from: no snapshot was imported');
  }
  const head = headFromRow(row);
  const milestone = milestoneFromRow(row);
  if (milestone === undefined)
    throw new Error(`the ledger is at ${head.ledger} and does not know that milestone`);
  const table = parameterTable(options!);
  const rules = { keys, verify, parameters: admittingParameters(table, head.ledger) };
  return { head, milestone, rules, unsupported: table.unsupportedAfter(head.ledger) };
}

async function takeInNext(
  { db, memory }: Following,
  upstream: Upstream,
  { head, milestone, rules }: Position,
  pass: Pass,
): Promise<void> {
  const index = head.ledger + 1;
  const started = Date.now();
  const payload = await upstream.readMilestone(index);
  if (payload === undefined)
    throw new UpstreamFailure(`${upstream.name} has no milestone ${index}`);
  const verified = await verifyMilestone(payload, head, milestone, rules.keys, rules.verify);
  const limits = { maxBlocks: pass.fetches, deadline: started + MILESTONE_TIMEOUT };
  const fetched = {
    get: (id: string) => memory.fetched.get(id),
    set(id: string, block: ParsedBlock) {
      pass.fetches--;
      memory.fetched.set(id, block);
    },
  };
  const source = milestoneSource([upstream], limits, fetched);
  const { exclusively } = memory;
  const taken = await takeInMilestone(db, verified, { rules, source, exclusively });
  memory.fetched.clear();
  memory.moved = Date.now();
  pass.applied++;
  pass.diverged = undefined;
  pass.level = undefined;
  writeLog('info', 'milestone applied', { ...taken, ms: Date.now() - started });
}
