/**
 * One pass of the follower: from where the ledger stands to where the upstreams are, within a
 * budget (docs/architecture.md#the-follower). A pass may be cut off anywhere: what it has done is
 * in D1, each milestone whole, and the next pass begins by reading it.
 */
import type { Database } from '../ledger/core/database.ts';
import { LedgerMoved } from '../ledger/core/fence.ts';
import { readHead } from '../ledger/core/head.ts';
import { hasPassed } from '../platform/clock.ts';
import type { WriteLog } from '../platform/log.ts';
import type { UpstreamHeads } from '../upstream/upstream.ts';
import { isSpent, type PassBudget, startPass, tryUpstream } from './apply-next.ts';
import { type FollowerContext, isFull, logFailure, noteLedger } from './follower-context.ts';
import { countUpstream } from './follower-counts.ts';
import {
  noteFailedPass,
  noteFruitlessPass,
  qualifyFollowerState,
  saveBlocksStatus,
  saveFollowerState,
  stopFollowing,
  whyFailing,
} from './follower-status.ts';
import { type LedgerPosition, readPosition } from './ledger-position.ts';
import { describeProgress } from './store/store-cone.ts';
import { storeTips } from './store/store-tips.ts';
import {
  needsAnotherUpstream,
  summarizePass,
  type UpstreamOutcome,
  waitsFor,
} from './summarize-pass.ts';
import { keepUp } from './upkeep.ts';

export interface PassResult {
  applied: number;
  /** Whether there is more to do right away. */
  behind: boolean;
  /** Whether the ledger is at its final milestone. */
  ended?: boolean;
  /** Whether some upkeep of a ledger that has ended is not done yet, or failed. */
  isUnfinished?: boolean;
  /** Whether upkeep of a module is not done yet, where nothing is followed. */
  isBuilding?: boolean;
}

/**
 * Age of the ledger's milestone, in milliseconds, from which on the heads of all upstreams are read,
 * and again as long after: the one that is asked first may stand still, or trail the others.
 * Networks issue a milestone each five to ten seconds.
 */
const LOOK_AROUND_MS = 20_000;

/**
 * Milliseconds between looks at an upstream's tips while a feed is live; a feed with loose ends
 * (blocks from before it, or lost ones) causes a look at once.
 */
const LOOK_AT_TIPS_MS = 10_000;

/** Throws what the database throws, and what no upstream can be blamed for. */
export async function followOnce(
  context: FollowerContext,
  budget: PassBudget,
): Promise<PassResult> {
  const { milestonesOnly = false } = budget;
  const [outcome] = await Promise.allSettled([follow(context, budget)]);
  // after a failure too: a ledger that is never pruned may be why passes fail
  const isAtRest = outcome.status === 'fulfilled' && outcome.value.ended;
  const upkeep = milestonesOnly ? {} : await keepUp(context, isAtRest);
  if (outcome.status === 'rejected') throw outcome.reason;
  const result = outcome.value;
  const states = Object.values(upkeep);
  const isUnfinished = milestonesOnly || states.some((state) => state !== 'done');
  return {
    ...result,
    behind: result.behind || states.includes('more'),
    ...(result.ended && isUnfinished && { isUnfinished }),
  };
}

async function follow(context: FollowerContext, budget: PassBudget): Promise<PassResult> {
  const { db, memory, finalMilestone, publish } = context;
  try {
    if (await hasEnded(db, finalMilestone, memory.log)) {
      // another import may have come since
      noteLedger(memory, await readPosition(db, context));
      await publish(false);
      return { applied: 0, behind: false, ended: true };
    }
    const { isMore, ...result } = await askUpstreams(context, budget);
    await publish(result.behind);
    return { ...result, behind: result.behind || isMore };
  } catch (error) {
    await noteFailedPass(db, memory, error);
    // what is not published is not pruned, and may be why passes fail
    await publish(true);
    if (!(error instanceof LedgerMoved)) throw error;
    // somebody else is at work: to go on at once would only be in the way
    logFailure(memory.log, 'follower.pass-failed', error);
    return { applied: 0, behind: false };
  }
}

/**
 * Returns whether the ledger has come to FINAL_MILESTONE (docs/contract.md#a-ledger-that-is-over).
 * A ledger beyond it stops the follower: it is of another network, or the setting is wrong.
 */
export async function hasEnded(
  db: Database,
  finalMilestone: number | undefined,
  log: WriteLog,
): Promise<boolean> {
  if (finalMilestone === undefined) return false;
  const head = await readHead(db);
  if (head === undefined || head.ledger < finalMilestone) return false;
  const reason = `the ledger is at milestone ${head.ledger}, beyond FINAL_MILESTONE, ${finalMilestone}`;
  if (head.ledger > finalMilestone) await stopFollowing(db, reason, log);
  return true;
}

/** Endings after which the next pass begins with another upstream. */
const IN_VAIN: ReadonlySet<UpstreamOutcome['kind']> = new Set(['failed', 'stuck', 'diverged']);

/** Asks one upstream after the other, and acts on the outcomes. */
async function askUpstreams(
  context: FollowerContext,
  budget: PassBudget,
): Promise<PassResult & { isMore: boolean }> {
  const { db, upstreams, memory } = context;
  const { upstreams: known, lastLedger } = memory;
  const lookAround = hasPassed(LOOK_AROUND_MS, known.lookedAroundAt, Date.now());
  const { times } = memory.progress;
  // one that catches up is of a request, or of a milestone that was pushed
  const pass = startPass(budget, budget.milestonesOnly ? memory.queries : memory.queriesBefore);
  const outcomes: UpstreamOutcome[] = [];
  let isCut = false;
  const astray = lastLedger && known.astray(lastLedger.generation, lastLedger.ledger);
  const isAstray = (place: number) => Number(astray?.has(upstreams[place]!.name) ?? false);
  const order = known.ranking.order(upstreams.length).sort((a, b) => isAstray(a) - isAstray(b));
  const later = upstreams.map((_, i) => (order[0]! + 1 + i) % upstreams.length);
  const next = later.find((place) => !isAstray(place)) ?? later[0]!;
  for (const place of order) {
    const outcome = await tryUpstream(context, place, pass).catch((error: unknown) => {
      // those asked before may have used up what an invocation may do, unless somebody else was first
      if (!(error instanceof LedgerMoved)) known.ranking.beginWith(next);
      throw error;
    });
    outcomes.push(outcome);
    if (!needsAnotherUpstream(outcome, lookAround)) break;
    // where one is level, all are looked at, which costs little
    isCut =
      IN_VAIN.has(outcome.kind) &&
      isSpent(memory, pass.queriesBefore) &&
      outcomes.length < order.length;
    if (isCut) break;
  }
  // an import may have come since, and upkeep goes by the ledger
  if (memory.lastLedger !== undefined && outcomes.every(({ kind }) => kind === 'failed'))
    noteLedger(memory, await readPosition(db, context));
  if (!budget.milestonesOnly) countOthers(context, outcomes);
  const isLeft = lookAround && outcomes.some((each) => each.isSlow && each.applied === 0);
  if (isLeft) known.leftAt = memory.lastLedger?.ledger;
  // one that took the ledger on ended the look before the others were asked
  if (lookAround && outcomes.length === order.length) known.lookedAroundAt = Date.now();
  const isStill = memory.progress.times === times;
  const waiting = isStill ? waitsFor(outcomes, known.diverged) : undefined;
  if (waiting !== undefined && !budget.milestonesOnly) noteFruitlessPass(memory, waiting);
  const [progress] = memory.missing.map(describeProgress);
  const { applied, behind, beginWith, level, diverged, getsOn, state } = summarizePass(outcomes, {
    diverged: known.diverged,
    failing: whyFailing(memory),
    upstreams: upstreams.length,
    isPast: lastLedger !== undefined && lastLedger.ledger !== memory.lastLedger?.ledger,
    progress,
  });
  if (getsOn) memory.failed = undefined;
  // those asked before may have used up what a pass may do: each comes first in turn
  const isNextFirst = !behind && (waiting !== undefined || (isStill && beginWith === undefined));
  const first = isNextFirst ? next : beginWith;
  if (first !== undefined) known.ranking.beginWith(first);
  const isDue = level !== undefined && !budget.milestonesOnly && areTipsDue(context, applied);
  if (!isDue) memory.tips.passesToRest = Math.max(0, memory.tips.passesToRest - 1);
  const isMore = isDue && (await storeTipsIfPossible(context, level.place, level.position));
  // one that is asked in the next pass may take the ledger on
  const isEarly = isCut && known.diverged === undefined && diverged !== undefined;
  known.diverged = diverged;
  if (state?.state === 'stopped') await stopFollowing(db, state.reason, memory.log);
  else if (state !== undefined && !isEarly) await saveFollowerState(db, state);
  else if (!memory.hasState) await qualifyFollowerState(db);
  memory.hasState = true;
  if (!budget.milestonesOnly)
    await saveBlocksStatus(db, context.isFed?.() ? 'feed' : 'polling', memory);
  return { applied, behind, isMore };
}

/** Counts the heads of those that were not asked, for which nobody waits: metrics are of each. */
function countOthers({ upstreams, memory }: FollowerContext, asked: UpstreamOutcome[]): void {
  const { counts, upstreams: known } = memory;
  if (!hasPassed(LOOK_AROUND_MS, known.countedAt, Date.now())) return;
  known.countedAt = Date.now();
  for (const [place, upstream] of upstreams.entries()) {
    if (asked.some((outcome) => outcome.place === place)) continue;
    const count = (outcome: UpstreamHeads | 'failed') =>
      countUpstream(counts, place, upstream.name, outcome);
    void upstream.readHeads().then(count, () => count('failed'));
  }
}

/** Passes without a feed that leave tips alone, after one that stored some: each costs two rows. */
const PASSES_TO_REST = 2;

/** Tips are due, without a feed, in a pass that applied a milestone, and after enough rest. */
function areTipsDue({ memory, isFed }: FollowerContext, applied: number): boolean {
  return (
    memory.tips.hasLooseEnds ||
    (isFed?.() !== true && (applied > 0 || memory.tips.passesToRest === 0)) ||
    hasPassed(LOOK_AT_TIPS_MS, memory.tips.lookedAt, Date.now())
  );
}

/**
 * Stores tips, which saves requests the fetching; no failure to store them stops anything. Returns
 * whether there is more to fetch right away.
 */
async function storeTipsIfPossible(
  context: FollowerContext,
  place: number,
  position: LedgerPosition,
): Promise<boolean> {
  const { upstreams, memory } = context;
  const upstream = upstreams[place]!;
  // they are stored when a milestone leads to them
  if (isFull(memory)) return false;
  const { tips } = memory;
  tips.lookedAt = Date.now();
  tips.hasLooseEnds = false;
  try {
    const { ranking } = memory.upstreams;
    const { stored, refused, isMore } = await storeTips({ ...context, ranking }, position, place);
    if (refused > 0)
      memory.log('warn', 'upstream.tips-refused', { upstream: upstream.name, tips: refused });
    tips.passesToRest = stored > 0 ? PASSES_TO_REST : 0;
    if (isMore) tips.hasLooseEnds = true;
    return isMore;
  } catch (error) {
    tips.hasLooseEnds = true;
    logFailure(memory.log, 'follower.tips-not-stored', error, { upstream: upstream.name });
    return false;
  }
}
