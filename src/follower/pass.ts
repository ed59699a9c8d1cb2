/**
 * One pass of the follower: from where the ledger stands to where the upstreams are, within a
 * budget (docs/architecture.md#the-follower).
 *
 * A pass may be cut off anywhere. What it has done is in D1, each milestone whole, and the next
 * pass begins by reading it.
 */

import { hasPassed } from '../clock.ts';
import { LedgerDamaged } from '../ledger/core/checksum.ts';
import { LedgerMoved } from '../ledger/core/fence.ts';
import { dropUnneeded, UNREFERENCED_LIMITS } from '../ledger/write/drop-blocks.ts';
import { MIN_RETENTION, prune, type Shortage } from '../ledger/write/prune.ts';
import { resolveVerdicts } from '../ledger/write/resolve-verdicts.ts';
import { scrub } from '../ledger/write/scrub.ts';
import { writeLog } from '../log.ts';
import { type Upstream, UpstreamFailure } from '../upstream/upstream.ts';
import { type PassBudget, startPass } from './apply-next.ts';
import { type FollowerContext, logFailure } from './follower-context.ts';
import {
  noteFailedPass,
  qualifyFollowerState,
  saveBlocksStatus,
  saveFollowerState,
  stopFollowing,
  whyFailing,
} from './follower-status.ts';
import type { LedgerPosition } from './ledger-position.ts';
import { buildFinalIfPossible, hasEnded } from './rest-at-end.ts';
import { describeProgress } from './store/store-cone.ts';
import { storeTips } from './store/store-tips.ts';
import { needsAnotherUpstream, summarizePass, type UpstreamOutcome } from './summarize-pass.ts';
import { tryUpstream } from './try-upstream.ts';

export interface PassResult {
  /** Milestones. */
  applied: number;
  /** Whether there is more to do right away. */
  behind: boolean;
  /** Whether nothing will ever be to do: the ledger is at its final milestone. */
  ended?: boolean;
  /** Whether the trees over a final ledger are not whole yet, where nothing is followed. */
  isBuilding?: boolean;
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
      const { db, finalMilestone } = context;
      const isBuilt = budget.milestonesOnly || (await buildFinalIfPossible(db, finalMilestone));
      return { applied: 0, behind: !isBuilt, ended: true };
    }
    const { isMore, ...result } = await askUpstreams(context, budget);
    await context.publish(result.behind);
    return { ...result, behind: result.behind || isMore };
  } catch (error) {
    await noteFailedPass(context.db, context.memory, error);
    if (!(error instanceof LedgerMoved)) throw error;
    // somebody else is at work: to go on at once would only be in the way
    logFailure('follower.pass-failed', error);
    return { applied: 0, behind: false };
  } finally {
    // after a failure too: a ledger that is never pruned may be why passes fail
    if (!budget.milestonesOnly) {
      await pruneIfPossible(context);
      await dropUnneededIfPossible(context);
      await resolveVerdictsIfPossible(context);
      await scrubIfDue(context);
    }
  }
}

/** Asks one upstream after the other, and does what follows from the outcomes. */
async function askUpstreams(
  context: FollowerContext,
  budget: PassBudget,
): Promise<PassResult & { isMore: boolean }> {
  const { db, upstreams, memory } = context;
  const known = memory.upstreams;
  const lookAround = hasPassed(LOOK_AROUND_MS, known.lastProgressAt, Date.now());
  if (lookAround) known.lastProgressAt = Date.now();
  const pass = startPass(budget);
  const outcomes: UpstreamOutcome[] = [];
  for (const place of known.ranking.order(upstreams.length)) {
    const outcome = await tryUpstream(context, place, pass);
    outcomes.push(outcome);
    if (!needsAnotherUpstream(outcome, lookAround)) break;
  }
  const progress = memory.missing && describeProgress(memory.missing);
  const { applied, behind, beginWith, level, diverged, getsOn, state } = summarizePass(outcomes, {
    diverged: known.diverged,
    failing: whyFailing(memory),
    upstreams: upstreams.length,
    progress,
  });
  if (getsOn) memory.failed = undefined;
  if (beginWith !== undefined) known.ranking.beginWith(beginWith);
  const isDue = level !== undefined && !budget.milestonesOnly && areTipsDue(context, applied);
  if (!isDue) memory.tips.passesToRest = Math.max(0, memory.tips.passesToRest - 1);
  const isMore = isDue && (await storeTipsIfPossible(context, level.place, level.position));
  known.diverged = diverged;
  if (state?.state === 'stopped') await stopFollowing(db, state.reason, memory.log);
  else if (state !== undefined) await saveFollowerState(db, state);
  else if (!memory.hasState) await qualifyFollowerState(db);
  memory.hasState = true;
  if (!budget.milestonesOnly)
    await saveBlocksStatus(db, context.isFed?.() ? 'feed' : 'polling', memory.tips.newestBlock);
  return { applied, behind, isMore };
}

/** Passes without a feed that leave tips alone, after one that stored some: each costs two rows. */
const PASSES_TO_REST = 2;

/** Without a feed: in a pass that applied a milestone, and in one that comes after enough rest. */
function areTipsDue({ memory, isFed }: FollowerContext, applied: number): boolean {
  return (
    memory.tips.hasLooseEnds ||
    (isFed?.() !== true && (applied > 0 || memory.tips.passesToRest === 0)) ||
    hasPassed(LOOK_AT_TIPS_MS, memory.tips.lookedAt, Date.now())
  );
}

/**
 * Stored tips save requests the fetching. Whatever is in the way of storing them stops nothing.
 * Whether there is more to fetch right away.
 */
async function storeTipsIfPossible(
  context: FollowerContext,
  place: number,
  position: LedgerPosition,
): Promise<boolean> {
  const { upstreams, memory } = context;
  const upstream = upstreams[place]!;
  // they are stored when a milestone leads to them
  if (memory.upkeep.room <= 0) return false;
  const { tips } = memory;
  tips.lookedAt = Date.now();
  tips.hasLooseEnds = false;
  try {
    const inOrder = [upstream, ...upstreams.toSpliced(place, 1)];
    const { stored, refused, isCut } = await storeTips(
      { ...context, upstreams: inOrder },
      position,
    );
    if (refused > 0)
      memory.log('warn', 'upstream.tips-refused', { upstream: upstream.name, tips: refused });
    tips.passesToRest = stored > 0 ? PASSES_TO_REST : 0;
    if (isCut) tips.hasLooseEnds = true;
    return isCut;
  } catch (error) {
    tips.hasLooseEnds = true;
    logFailure('follower.tips-not-stored', error, { upstream: upstream.name });
    return false;
  }
}

/** What is not pruned now will be by a later pass. */
async function pruneIfPossible(context: FollowerContext): Promise<void> {
  const { db, retention, databaseLimit: limitBytes, memory } = context;
  const isFull = memory.upkeep.isDatabaseFull;
  try {
    const shortage = await memory.mutex(() => prune(db, retention, { limitBytes, isFull }));
    memory.upkeep.isDatabaseFull = false;
    if (shortage !== undefined) tellShortage(context, shortage);
  } catch (error) {
    logFailure('follower.prune-failed', error);
  }
}

/**
 * How much longer than an eviction the pause after it is: it may find that everything is needed.
 */
const PAUSE_PER_EVICTION = 10;

/** Milliseconds for the tips of all upstreams: the next milestone may wait meanwhile. */
const TIPS_MS = 3000;

/**
 * Hex IDs of the tips of all upstreams that name theirs in time. What one of them says can keep
 * blocks, and evict none that another one needs.
 */
async function readAllTips(upstreams: readonly Upstream[]): Promise<string[]> {
  const { promise: late, resolve } = Promise.withResolvers<string[]>();
  const timer = setTimeout(resolve, TIPS_MS, []);
  const readTips = async (upstream: Upstream): Promise<string[]> => {
    try {
      return await upstream.readTips();
    } catch (error) {
      if (error instanceof UpstreamFailure) return [];
      throw error;
    }
  };
  try {
    const tips = await Promise.all(upstreams.map((each) => Promise.race([readTips(each), late])));
    return tips.flat();
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Orphans, and beyond a limit what no tip of an upstream needs; not while a milestone's past cone
 * is stored in parts, as no tip may lead to those yet.
 */
async function dropUnneededIfPossible({ db, upstreams, memory }: FollowerContext): Promise<void> {
  if (memory.missing !== undefined) return;
  const { upkeep } = memory;
  try {
    const mayEvict = hasPassed(upkeep.eviction.pause, upkeep.eviction.ended, Date.now());
    const readTips = async () => (mayEvict ? readAllTips(upstreams) : []);
    const dropped = await memory.mutex(async () => {
      const begun = Date.now();
      try {
        return await dropUnneeded(db, memory.index, readTips, UNREFERENCED_LIMITS);
      } finally {
        // after a failure too
        const ended = Date.now();
        if (mayEvict)
          upkeep.eviction = { ended, pause: PAUSE_PER_EVICTION * Math.max(ended - begun, 0) };
      }
    });
    upkeep.room = dropped.room;
    memory.counts.orphans += dropped.orphans;
    memory.counts.evicted += dropped.evicted;
    if (dropped.evicted > 0)
      memory.log('warn', 'follower.blocks-evicted', { blocks: dropped.evicted });
  } catch (error) {
    logFailure('follower.blocks-not-dropped', error);
  }
}

/** Steps of one pass: some 0.2 s each at most, and up to 12 statements. */
const RESOLVING_STEPS = 16;

/** Verdicts that can be made and are not yet; the next pass continues, and repeats what failed. */
async function resolveVerdictsIfPossible({ db, verify, memory }: FollowerContext): Promise<void> {
  const { lastLedger: head, index } = memory;
  if (head === undefined) return;
  try {
    await memory.mutex(() => resolveVerdicts(db, { index, head, verify }, RESOLVING_STEPS));
  } catch (error) {
    logFailure('follower.verdicts-not-made', error);
  }
}

/** From the end of a step of the scrub to the next: each writes a row and reads up to 8,000. */
const SCRUB_INTERVAL_MS = 10_000;

/** What the scrub finds is in D1 from then on, so that every read of the ledger is an error. */
export async function scrubIfDue({
  db,
  memory,
}: Pick<FollowerContext, 'db' | 'memory'>): Promise<void> {
  const { upkeep } = memory;
  if (!hasPassed(SCRUB_INTERVAL_MS, upkeep.scrubbedAt, Date.now())) return;
  try {
    const isRound = await memory.mutex(() => scrub(db));
    if (isRound) writeLog('info', 'follower.ledger-scrubbed', {});
  } catch (error) {
    if (error instanceof LedgerDamaged)
      memory.log('error', 'follower.ledger-damaged', { reason: error.message });
    else logFailure('follower.scrub-failed', error);
  }
  upkeep.scrubbedAt = Date.now();
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
