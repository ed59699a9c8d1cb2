/**
 * One pass of the follower: from where the ledger stands to where the upstreams are, within a
 * budget (docs/architecture.md#the-follower).
 *
 * A pass may be cut off anywhere. What it has done is in D1, each milestone whole, and the next
 * pass begins by reading it.
 */

import { hasPassed } from '../clock.ts';
import { LedgerMoved } from '../ledger/core/fence.ts';
import { dropUnneeded, UNREFERENCED_LIMITS } from '../ledger/write/drop-blocks.ts';
import { MIN_RETENTION, prune, type Shortage } from '../ledger/write/prune.ts';
import { describeError, writeLog } from '../log.ts';
import type { BlockCache } from '../upstream/block-cache.ts';
import type { FollowerContext, FollowerMemory } from './follower-context.ts';
import {
  qualifyFollowerState,
  saveBlocksStatus,
  saveFollowerState,
  stopFollowing,
} from './follower-status.ts';
import type { LedgerPosition } from './ledger-position.ts';
import { hasEnded } from './rest-at-end.ts';
import { describeProgress } from './store/store-cone.ts';
import { storeTips } from './store/store-tips.ts';
import { needsAnotherUpstream, summarizePass, type UpstreamOutcome } from './summarize-pass.ts';
import { type PassBudget, startPass, tryUpstream } from './try-upstream.ts';

export interface PassResult {
  /** Milestones. */
  applied: number;
  /** Whether there is more to do right away. */
  behind: boolean;
  /** Whether nothing will ever be to do: the ledger is at its final milestone. */
  ended?: boolean;
}

/**
 * After so long without a milestone the heads of all upstreams are read, and again each time that
 * it has passed: the one that is asked first may be standing still. A network issues a milestone in
 * five or ten seconds, so that while all is well no other upstream is asked.
 */
const LOOK_AROUND_MS = 15_000;

/**
 * While a feed is live an upstream's tips are looked at so often, and when the feed has left loose
 * ends: blocks from before it, and those that it lost.
 */
const LOOK_AT_TIPS_MS = 10_000;

/** Throws what the database throws, and what no upstream can be blamed for. */
export async function followOnce(
  context: FollowerContext,
  budget: PassBudget,
): Promise<PassResult> {
  try {
    if (await hasEnded(context.db, context.finalMilestone, context.memory.log)) {
      await context.publish(false);
      return { applied: 0, behind: false, ended: true };
    }
    const { isMore, ...result } = await askUpstreams(context, budget);
    await context.publish(result.behind);
    return { ...result, behind: result.behind || isMore };
  } catch (error) {
    if (!(error instanceof LedgerMoved)) throw error;
    // somebody else is at work: to go on at once would only be in the way
    writeLog('info', 'follower.ledger-moved', { detail: error.message });
    return { applied: 0, behind: false };
  } finally {
    // after a failure too: a ledger that is never pruned may be why passes fail
    if (!budget.milestonesOnly) {
      await pruneIfPossible(context);
      await dropUnneededIfPossible(context);
    }
  }
}

/** Asks one upstream after the other, and does what follows from the outcomes. */
async function askUpstreams(
  context: FollowerContext,
  budget: PassBudget,
): Promise<PassResult & { isMore: boolean }> {
  const { db, upstreams, memory } = context;
  const lookAround = hasPassed(LOOK_AROUND_MS, memory.moved, Date.now());
  if (lookAround) memory.moved = Date.now();
  const pass = startPass(budget);
  const outcomes: UpstreamOutcome[] = [];
  for (const place of memory.ranking.order(upstreams.length)) {
    const outcome = await tryUpstream(context, place, pass);
    outcomes.push(outcome);
    if (!needsAnotherUpstream(outcome, lookAround)) break;
  }
  const progress = memory.missing && describeProgress(memory.missing);
  const before = { diverged: memory.diverged, upstreams: upstreams.length, progress };
  const { applied, behind, beginWith, level, diverged, state } = summarizePass(outcomes, before);
  if (beginWith !== undefined) memory.ranking.beginWith(beginWith);
  const isDue = level !== undefined && !budget.milestonesOnly && areTipsDue(context);
  const isMore = isDue && (await storeTipsIfPossible(context, level.place, level.position));
  memory.level = level && upstreams[level.place];
  memory.diverged = diverged;
  if (state?.state === 'stopped') await stopFollowing(db, state.reason, memory.log);
  else if (state !== undefined) await saveFollowerState(db, state);
  else if (!memory.hasState) await qualifyFollowerState(db);
  memory.hasState = true;
  if (!budget.milestonesOnly)
    await saveBlocksStatus(db, context.isFed?.() ? 'feed' : 'polling', memory.newestBlock);
  return { applied, behind, isMore };
}

function areTipsDue({ memory, isFed }: FollowerContext): boolean {
  return (
    isFed?.() !== true ||
    memory.hasLooseEnds ||
    hasPassed(LOOK_AT_TIPS_MS, memory.lookedAtTips, Date.now())
  );
}

/**
 * Stored tips save requests the fetching. Whatever is in the way of storing them stops nothing.
 * Whether there is more to fetch right away.
 */
async function storeTipsIfPossible(
  { db, upstreams, memory }: FollowerContext,
  place: number,
  { head, rules }: LedgerPosition,
): Promise<boolean> {
  const upstream = upstreams[place]!;
  const others = upstreams.toSpliced(place, 1);
  memory.lookedAtTips = Date.now();
  memory.hasLooseEnds = false;
  try {
    const unreferenced = memory.unreferenced(head.generation, head.ledger);
    const { mutex, refused, index } = memory;
    const fetched = atHand(memory);
    const tools = { upstream, others, rules, unreferenced, index, fetched, refused, mutex };
    const { stored, isMore } = await storeTips(db, head, tools);
    if (stored > 0) memory.newestBlock = Date.now();
    if (isMore) memory.hasLooseEnds = true;
    return isMore;
  } catch (error) {
    memory.hasLooseEnds = true;
    if (error instanceof LedgerMoved)
      writeLog('info', 'follower.ledger-moved', { detail: error.message });
    else
      writeLog('warn', 'follower.tips-not-stored', {
        upstream: upstream.name,
        error: describeError(error),
      });
    return false;
  }
}

/** Blocks that were fetched or pushed: what is stored of them need not be held any more. */
function atHand({ fetched, pushed }: FollowerMemory): BlockCache {
  return {
    get: (id) => fetched.get(id) ?? pushed.blocks.get(id),
    set: (id, block) => fetched.set(id, block),
    delete(id) {
      fetched.delete(id);
      pushed.blocks.remove([id]);
      pushed.blocks.looked([id], () => true, Date.now());
    },
  };
}

/** What is not pruned now will be by a later pass. */
async function pruneIfPossible(context: FollowerContext): Promise<void> {
  const { db, retention, databaseLimit: limitBytes, memory } = context;
  const isFull = memory.isDatabaseFull;
  try {
    const shortage = await memory.mutex(() => prune(db, retention, { limitBytes, isFull }));
    memory.isDatabaseFull = false;
    if (shortage !== undefined) tellShortage(context, shortage);
  } catch (error) {
    writeLog('warn', 'follower.prune-failed', { error: describeError(error) });
  }
}

/**
 * How much longer than an eviction the pause after it is: it may find that everything is needed.
 */
const PAUSE_PER_EVICTION = 10;

const NO_LIMITS = { blocks: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };

/**
 * Orphans, and beyond a limit what no tip of an upstream needs; not while a milestone's past cone
 * is stored in parts, as no tip may lead to those yet.
 */
async function dropUnneededIfPossible({ db, memory }: FollowerContext): Promise<void> {
  if (memory.missing !== undefined) return;
  try {
    const readTips = async () => (await memory.level?.readTips()) ?? [];
    const limits = hasPassed(memory.eviction.pause, memory.eviction.ended, Date.now())
      ? UNREFERENCED_LIMITS
      : NO_LIMITS;
    const dropped = await memory.mutex(async () => {
      const begun = Date.now();
      try {
        return await dropUnneeded(db, memory.index, readTips, limits);
      } finally {
        // after a failure too
        const ended = Date.now();
        if (limits !== NO_LIMITS)
          memory.eviction = { ended, pause: PAUSE_PER_EVICTION * Math.max(ended - begun, 0) };
      }
    });
    memory.counts.orphans += dropped.orphans;
    memory.counts.evicted += dropped.evicted;
    if (dropped.evicted > 0)
      memory.log('warn', 'follower.blocks-evicted', { blocks: dropped.evicted });
  } catch (error) {
    writeLog('warn', 'follower.blocks-not-dropped', { error: describeError(error) });
  }
}

/** The numbers are rounded, so that a line is the same for a while. */
function tellShortage(
  { memory, retention, databaseLimit }: FollowerContext,
  { databaseBytes, kept }: Shortage,
): void {
  const isLeast = kept <= MIN_RETENTION;
  memory.log(isLeast ? 'error' : 'warn', 'follower.retention-shortened', {
    detail: isLeast
      ? 'the database is nearly full, and no fewer milestones can be kept'
      : 'the database is nearly full: fewer milestones are kept than RETENTION_MILESTONES says',
    databaseGigabytes: Math.floor(databaseBytes / 1e8) / 10,
    limitGigabytes: databaseLimit && databaseLimit / 1e9,
    keptMilestones: Math.min(Number(kept.toPrecision(1)), retention),
    configuredMilestones: retention,
  });
}
