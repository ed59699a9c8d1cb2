/**
 * Meaning of a pass's outcomes: whether another upstream is asked, which one comes first next time,
 * the follower's state, whose tips to store. It does nothing: tests need no database.
 */
import type { UpstreamHeads } from '../upstream/upstream.ts';
import type { FollowerState } from './follower-status.ts';
import type { LedgerPosition } from './ledger-position.ts';

/**
 * End of a pass with one upstream.
 *
 * `level`: the ledger is at the upstream's confirmed milestone. `behind`: the upstream is behind
 * the ledger. `budget-spent`: there is more to apply in the next pass; with a reason, if only
 * undone work was done again, which is no progress (store/progress.ts). `stuck`: the same, without
 * any work. `stopped`: an operator has to act. `failed`: the upstream did not answer as it should.
 * `diverged`: it answered what cannot follow our ledger.
 */
export type Ending =
  | { kind: 'level'; position: LedgerPosition }
  | { kind: 'behind'; position: LedgerPosition }
  | { kind: 'budget-spent'; reason?: string | undefined }
  | { kind: 'stuck'; reason: string }
  | { kind: 'stopped'; reason: string }
  | { kind: 'failed'; reason: string }
  | { kind: 'diverged'; reason: string };

export type UpstreamOutcome = Ending & {
  place: number;
  /** Milestones of this upstream that were applied, whatever came then. */
  applied: number;
  /** Whether they, or blocks of a cone in which it ended, took longer than the network to issue. */
  isSlow?: boolean;
  /** The newest milestone that the upstream has heard of, if it said so. */
  latest: UpstreamHeads['latest'] | undefined;
  /** The upstream's next milestone after the ledger's: a signed payload, or only its word. */
  next?: 'signed' | 'claimed' | undefined;
};

type LevelOutcome = Extract<UpstreamOutcome, { kind: 'level' }>;

/**
 * One upstream that took the ledger on, or is level with it, is enough, unless it is slow, or may be
 * standing still or trailing, and it is time to look around.
 */
export function needsAnotherUpstream(outcome: UpstreamOutcome, lookAround: boolean): boolean {
  switch (outcome.kind) {
    case 'stopped':
      return false;
    case 'budget-spent':
      return lookAround && outcome.isSlow === true;
    case 'level':
      return lookAround;
    case 'behind':
      return lookAround || outcome.applied === 0;
    case 'failed':
    case 'stuck':
    case 'diverged':
      return true;
  }
}

/**
 * Returns what a pass without progress waited for, if an upstream has the next milestone. A mere
 * word counts only if no upstream is done. Nothing counts beside a divergence, nor, after one, in a
 * pass that ends while work is done again.
 *
 * @param diverged as in {@link BeforePass}
 */
export function waitsFor(
  outcomes: readonly UpstreamOutcome[],
  diverged: string | undefined,
): string | undefined {
  const kinds = new Set(outcomes.map(({ kind }) => kind));
  if (kinds.has('diverged') || kinds.has('stopped')) return undefined;
  if (diverged !== undefined && kinds.has('budget-spent')) return undefined;
  if (outcomes.some(({ applied }) => applied > 0)) return undefined;
  const isWordEnough = !kinds.has('level') && !kinds.has('behind');
  const waiting = outcomes.findLast(({ next }) => next === 'signed' || (next && isWordEnough));
  return waiting && 'reason' in waiting ? waiting.reason : undefined;
}

export interface BeforePass {
  /** Why an upstream was found to diverge by an earlier pass (FollowerMemory). */
  diverged: string | undefined;
  /** Why passes were failing when this one began; undefined if they were not. */
  failing?: string | undefined;
  upstreams: number;
  /** Whether another job took the ledger on during the pass: a divergence is out of date. */
  isPast?: boolean;
  /** Progress with a milestone that takes several passes, for people. */
  progress?: string | undefined;
}

export interface PassSummary {
  applied: number;
  behind: boolean;
  /** Place of the upstream to ask first from now on; undefined leaves it as it is. */
  beginWith: number | undefined;
  /** The upstream whose tips may be stored, because it has confirmed the ledger's milestone. */
  level: LevelOutcome | undefined;
  /** Divergence to remember until a milestone is applied, or no upstream diverges. */
  diverged: string | undefined;
  /** Whether the pass got somewhere, or all upstreams say that there is nothing to do. */
  getsOn: boolean;
  /** State to save; undefined where nothing was learnt. */
  state: FollowerState | undefined;
}

/** @param outcomes in the order in which the upstreams were asked, at least one */
export function summarizePass(
  outcomes: readonly UpstreamOutcome[],
  before: BeforePass,
): PassSummary {
  const last = outcomes.at(-1)!;
  const applied = outcomes.reduce((sum, outcome) => sum + outcome.applied, 0);
  if (last.kind === 'stopped') {
    const state: FollowerState = { state: 'stopped', reason: last.reason };
    const nothing = { behind: false, beginWith: undefined, level: undefined, getsOn: false };
    return { ...nothing, applied, diverged: before.diverged, state };
  }
  const spent = outcomes.find((outcome) => outcome.kind === 'budget-spent');
  const behind = spent !== undefined;
  const recent = sinceLastApplied(outcomes);
  const level = behind ? undefined : recent.find((outcome) => outcome.kind === 'level');
  const found = recent.findLast((outcome) => outcome.kind === 'diverged')?.reason;
  const divergence = before.isPast && applied === 0 ? undefined : found;
  // of work that is done again nothing is known before its end
  const isRound = outcomes.length === before.upstreams && spent?.reason === undefined;
  const isKnownAnew = found !== undefined || applied > 0 || isRound;
  const diverged = isKnownAnew ? divergence : before.diverged;
  const isAllDone =
    outcomes.length === before.upstreams &&
    outcomes.every(({ kind }) => kind === 'level' || kind === 'behind');
  const getsOn = applied > 0 || (behind && spent.reason === undefined) || isAllDone;
  const isAllAstray = outcomes.every(({ kind }) => kind === 'diverged');
  const failing = getsOn || isAllAstray ? undefined : before.failing;
  return {
    applied,
    behind,
    beginWith: (level ?? outcomes.findLast(tookLedgerOn))?.place,
    level,
    diverged,
    getsOn,
    state: stateOf(failing, diverged, outcomes, before.progress),
  };
}

/** A milestone that was applied makes what was said of the ledger before it out of date. */
function sinceLastApplied(outcomes: readonly UpstreamOutcome[]): readonly UpstreamOutcome[] {
  const last = outcomes.findLastIndex(({ applied }) => applied > 0);
  return last === -1 ? outcomes : outcomes.slice(last);
}

/** An upstream that failed or diverged is not one to begin with, whatever it had before. */
const tookLedgerOn = ({ kind, applied }: UpstreamOutcome): boolean =>
  kind === 'budget-spent' || ((kind === 'level' || kind === 'behind') && applied > 0);

function stateOf(
  failing: string | undefined,
  diverged: string | undefined,
  outcomes: readonly UpstreamOutcome[],
  progress: string | undefined,
): FollowerState | undefined {
  if (failing !== undefined) return { state: 'failing', reason: failing };
  if (diverged !== undefined) return { state: 'diverged', reason: diverged };
  let upstream: UpstreamHeads['latest'] | undefined;
  for (const { latest } of outcomes)
    if (latest !== undefined && latest.index >= (upstream?.index ?? 0)) upstream = latest;
  return upstream && { state: 'following', upstream, ...(progress && { progress }) };
}
