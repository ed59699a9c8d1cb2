/**
 * One upstream's part in a pass: its next milestones are applied until the ledger is level with it,
 * the budget is spent, or something is in the way.
 */

import { networkNames } from '../ledger/core/ledger-parameters.ts';
import { ConeUnavailable } from '../ledger/intake/block-source.ts';
import { createMilestoneSource } from '../upstream/fetch-blocks.ts';
import { type Upstream, UpstreamFailure, type UpstreamHeads } from '../upstream/upstream.ts';
import { applyMilestone } from './apply-milestone.ts';
import { blocksAtHand, type FollowerContext, noteApplied, noteLedger } from './follower-context.ts';
import { countUpstream } from './follower-counts.ts';
import { type LedgerPosition, readPosition } from './ledger-position.ts';
import type { Ending, UpstreamOutcome } from './summarize-pass.ts';
import { Divergence, verifyMilestone } from './verify-milestone.ts';

export interface PassBudget {
  /**
   * Unix milliseconds after which no further milestone is begun. Exception: the first of each
   * upstream, because an upstream before it may have used up the time.
   */
  deadline: number;
  /** Milestones in one pass. */
  milestones: number;
  /**
   * Blocks fetched for milestones; the rest of a past cone is left to the next pass. Absent: as
   * many as there are.
   */
  fetches?: number;
  /** Whether to leave out what is not urgent: storing tips, pruning. */
  milestonesOnly?: boolean;
}

/** A pass under way. */
export interface PassState {
  readonly budget: PassBudget;
  /** Milestones applied so far. */
  applied: number;
  /** Blocks that may still be fetched. */
  fetchesLeft: number;
}

/** To fetch the blocks of one milestone. */
const MILESTONE_FETCH_MS = 60_000;

export function startPass(budget: PassBudget): PassState {
  return { budget, applied: 0, fetchesLeft: budget.fetches ?? Number.POSITIVE_INFINITY };
}

/**
 * Applies what the upstream at this place has to give. Throws a LedgerMoved when somebody else is
 * at work on the ledger, and what the database throws.
 */
export async function tryUpstream(
  context: FollowerContext,
  place: number,
  pass: PassState,
): Promise<UpstreamOutcome> {
  const upstream = context.upstreams[place]!;
  const { counts } = context.memory;
  const appliedBefore = pass.applied;
  let latest: UpstreamHeads['latest'] | undefined;
  const end = (ending: Ending): UpstreamOutcome => {
    return { ...ending, place, applied: pass.applied - appliedBefore, latest };
  };
  try {
    const heads = await upstream.readHeads();
    latest = heads.latest;
    countUpstream(counts, place, upstream.name, heads);
    const { finalMilestone = Number.POSITIVE_INFINITY } = context;
    const confirmed = Math.min(heads.confirmed, finalMilestone);
    const network = heads.networkName;
    return end(await applyUpTo(context, upstream, { confirmed, network }, pass));
  } catch (error) {
    if (!(error instanceof Divergence || error instanceof UpstreamFailure)) throw error;
    const kind = error instanceof Divergence ? 'diverged' : 'failed';
    countUpstream(counts, place, upstream.name, kind);
    // what a diverging upstream sent may be what is wrong: the next try fetches afresh
    if (kind === 'diverged') {
      context.memory.fetched.clear();
      context.memory.missing = undefined;
    }
    const event = kind === 'diverged' ? 'upstream.diverged' : 'upstream.failed';
    context.memory.log('warn', event, { upstream: upstream.name, detail: error.message });
    return end({ kind, reason: error.message });
  }
}

/**
 * Applies milestones until the ledger is level with the upstream's confirmed one or the final one,
 * or cannot.
 */
async function applyUpTo(
  context: FollowerContext,
  upstream: Upstream,
  { confirmed, network }: { confirmed: number; network: string | undefined },
  pass: PassState,
): Promise<Ending> {
  const { budget, applied: appliedBefore } = pass;
  let position = await readPosition(context.db, context);
  noteLedger(context.memory, position);
  while (position.head.ledger < confirmed) {
    const unsupported = position.announced.unsupportedAfter(position.head.ledger);
    if (unsupported !== undefined)
      return { kind: 'stopped', reason: `protocol version ${unsupported} is not known here` };
    const isLate = pass.applied > appliedBefore && Date.now() > budget.deadline;
    if (pass.applied >= budget.milestones || isLate) return { kind: 'budget-spent' };
    try {
      await applyNext(context, upstream, position, pass);
    } catch (error) {
      if (!(error instanceof ConeUnavailable)) throw error;
      if (error.fault === 'over-budget') return { kind: 'budget-spent' };
      throw error;
    }
    position = await readPosition(context.db, context);
    noteLedger(context.memory, position);
    await context.publish(position.head.ledger < confirmed);
  }
  // not before: a network that is ahead may have announced another name since
  requireNetwork(position, network);
  return position.head.ledger === confirmed ? { kind: 'level', position } : { kind: 'behind' };
}

/**
 * Throws a Divergence where the upstream's network is not the ledger's. Milestones need not show
 * that: those of two networks that were made with the same keys may follow the same genesis.
 */
function requireNetwork({ announced }: LedgerPosition, network: string | undefined): void {
  const names = networkNames(announced);
  if (network === undefined || names.includes(network)) return;
  throw new Divergence(
    `the upstream is of network ${network}, the imported ledger of ${names.at(-1)}: ` +
      'import a snapshot of that network, or name an upstream of this one',
  );
}

async function applyNext(
  { db, memory, announce }: FollowerContext,
  upstream: Upstream,
  position: LedgerPosition,
  pass: PassState,
): Promise<void> {
  const started = Date.now();
  const { rules } = position;
  const index = position.head.ledger + 1;
  const payload = await upstream.readMilestone(index);
  if (payload === undefined)
    throw new UpstreamFailure(`${upstream.name} has no milestone ${index}`);
  const verified = await verifyMilestone(payload, position, rules);
  const atHand = blocksAtHand(memory);
  const limits = { maxBlocks: pass.fetchesLeft, deadline: started + MILESTONE_FETCH_MS };
  const source = createMilestoneSource([upstream], limits, {
    get: atHand.get,
    set(id, block) {
      pass.fetchesLeft--;
      atHand.set(id, block);
    },
  });
  const tools = { memory, rules, source, upstream, deadline: pass.budget.deadline };
  const applied = await applyMilestone(db, position.head, verified, tools);
  noteApplied(memory, applied, { started });
  announce?.(applied.index);
  pass.applied++;
}
