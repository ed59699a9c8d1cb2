/**
 * Applies the milestones after the ledger's, one after the other. An upstream gives a milestone's
 * payload and the blocks of its past cone; a pushed milestone has its payload at hand, and is
 * applied once its blocks are too. Neither is trusted: a milestone must follow the ledger's, be
 * signed, and have the roots that are computed from its blocks (complete-milestone.ts).
 */
import { LedgerMoved } from '../ledger/core/fence.ts';
import { parameterSets } from '../ledger/core/ledger-parameters.ts';
import { writeOutputBytes } from '../ledger/core/output-bytes.ts';
import { ConeUnavailable } from '../ledger/intake/block-source.ts';
import { pause } from '../platform/clock.ts';
import { writeLog } from '../platform/log.ts';
import type { ProtocolParameters } from '../stardust/wire/parameters.ts';
import { createConeFetcher } from '../upstream/fetch-blocks.ts';
import { type Upstream, UpstreamFailure, type UpstreamHeads } from '../upstream/upstream.ts';
import { completeMilestone } from './complete-milestone.ts';
import { type FollowerContext, noteLedger } from './follower-context.ts';
import { countUpstream } from './follower-counts.ts';
import { type LedgerPosition, readPosition } from './ledger-position.ts';
import type { MissingCone } from './store/store-cone.ts';
import type { Ending, UpstreamOutcome } from './summarize-pass.ts';
import { Divergence, verifyMilestone } from './verify-milestone.ts';

export interface PassBudget {
  /** Unix milliseconds after which only the first milestone of each upstream is begun. */
  deadline: number;
  milestones: number;
  /** Blocks fetched for milestones; the next pass fetches the rest. Absent: no limit. */
  fetches?: number;
  /** Leaves out what is not urgent: storing tips, pruning. */
  milestonesOnly?: boolean;
}

export interface PassState {
  readonly budget: PassBudget;
  /** Queries before the invocation that the pass is of. */
  readonly queriesBefore: number;
  applied: number;
  fetchesLeft: number;
  /** Index of the last milestone of which a signed payload was given. */
  signed?: number | undefined;
}

interface Giver {
  /** The last milestone that it may have. */
  confirmed: number;
  /** A payload that may be the milestone with this index; undefined if there is none. */
  readMilestone(index: number): Promise<Uint8Array | undefined>;
  /** Serves blocks, and is queried about earlier references. Absent: only the pool has blocks. */
  upstream?: Upstream;
}

/**
 * Queries of D1 and operations on KV in an invocation after which no further milestone or upstream is
 * begun: of each 1,000 are the limit.
 */
const MAX_QUERIES = 400;

/** Milliseconds after a pushed milestone that is none: it needs no proof of work (C-6). */
const REFUSED_MS = 100;

/** Milliseconds to fetch the blocks of one milestone. */
const MILESTONE_FETCH_MS = 60_000;

export function startPass(budget: PassBudget, queriesBefore: number): PassState {
  const { fetches = Number.POSITIVE_INFINITY } = budget;
  return { budget, queriesBefore, applied: 0, fetchesLeft: fetches };
}

/** Whether what is not begun yet is left to the next invocation; by default, that of the alarm. */
export const isSpent = (
  { queries, queriesBefore }: FollowerContext['memory'],
  before = queriesBefore,
): boolean => queries - before > MAX_QUERIES;

/**
 * Applies the milestones of the upstream at this place of the list. Throws a LedgerMoved if another
 * writer is at work on the ledger, and what the database throws.
 */
export async function tryUpstream(
  context: FollowerContext,
  place: number,
  pass: PassState,
): Promise<UpstreamOutcome> {
  const upstream = context.upstreams[place]!;
  const { counts, missing, upstreams: known } = context.memory;
  const [began, before, done, { issuedAt }] = [Date.now(), pass.applied, workDone(missing), known];
  let heads: UpstreamHeads | undefined;
  pass.signed = undefined;
  const end = (ending: Ending): UpstreamOutcome => {
    const { ledger = Number.POSITIVE_INFINITY } = context.memory.lastLedger ?? {};
    const isClaimed = heads !== undefined && heads.confirmed > ledger;
    const next = pass.signed === ledger + 1 ? 'signed' : isClaimed ? 'claimed' : undefined;
    const applied = pass.applied - before;
    const isOver = known.leftAt !== ledger && Date.now() > pass.budget.deadline;
    // within a past cone: 50 ms for each block of it
    const issued = known.issuedAt - issuedAt || 50 * (workDone(context.memory.missing) - done);
    const isSlow = (applied > 0 || isOver) && issued < Date.now() - began;
    return { ...ending, place, applied, isSlow, latest: heads?.latest, next };
  };
  try {
    heads = await upstream.readHeads();
    countUpstream(counts, place, upstream.name, heads);
    const ending = await applyUpTo(context, fromUpstream(upstream, heads.confirmed), pass);
    // not before: a network that is ahead may have announced another name since
    requireNetwork(ending, heads, context.memory);
    return end(ending);
  } catch (error) {
    if (!(error instanceof Divergence || error instanceof UpstreamFailure)) throw error;
    const kind = error instanceof Divergence ? 'diverged' : 'failed';
    countUpstream(counts, place, upstream.name, kind);
    const event = kind === 'diverged' ? 'upstream.diverged' : 'upstream.failed';
    context.memory.log('warn', event, { upstream: upstream.name, detail: error.message });
    // health shows it to everybody
    const names = context.upstreams.map(({ name }) => name);
    const hide = (text: string, name: string) => text.replaceAll(name, 'an upstream');
    return end({ kind, reason: names.reduce(hide, error.message) });
  }
}

/**
 * Throws a Divergence if the upstream's network is not the ledger's. Milestones need not show that:
 * two networks that were made with the same keys may follow the same genesis. Keeps the token of an
 * upstream whose protocol parameters are the ledger's.
 */
function requireNetwork(
  ending: Ending,
  heads: UpstreamHeads,
  { upstreams }: FollowerContext['memory'],
): void {
  const { networkName: network, parameters, confirmed } = heads;
  if (network === undefined || !('position' in ending)) return;
  const { announced, head } = ending.position;
  const known = parameterSets(announced);
  if (!known.some(({ networkName }) => networkName === network))
    throw new Divergence(
      `the upstream is of network ${network}, the imported ledger of ${known.at(-1)?.networkName}: ` +
        'import a snapshot of that network, or name an upstream of this one',
    );
  // a milestone that is not applied yet may announce others, and an import lacks former ones
  const isKnown = head.ledger >= confirmed && announced.at(confirmed) !== undefined;
  if (parameters === undefined || !isKnown) return;
  const others = known.map((each) => differences(each, parameters));
  if (others.some((names) => names.length === 0)) {
    const said = JSON.stringify({ network, baseToken: heads.baseToken });
    if (heads.baseToken !== undefined)
      upstreams.token = writeOutputBytes(new TextEncoder().encode(said));
    return;
  }
  throw new Divergence(
    `the upstream has other protocol parameters than the imported ledger (${others.at(-1)}): ` +
      'one of them is wrong; nobody signs those of a snapshot, so compare with a third source',
  );
}

function differences(ours: ProtocolParameters, theirs: ProtocolParameters): string[] {
  const write = (value: unknown) =>
    JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}` : part));
  const names = Object.keys(ours) as (keyof ProtocolParameters)[];
  return names.filter((name) => write(ours[name]) !== write(theirs[name]));
}

/** @param confirmed the index of the last milestone that the upstream has confirmed */
function fromUpstream(upstream: Upstream, confirmed: number): Giver {
  return {
    confirmed,
    upstream,
    async readMilestone(index) {
      const payload = await upstream.readMilestone(index);
      if (payload === undefined)
        throw new UpstreamFailure(`${upstream.name} has no milestone ${index}`);
      return payload;
    },
  };
}

/**
 * Applies pushed milestones as long as their past cones were pushed or are in D1; returns how many.
 * If a block is missing, a pass fetches it (pass.ts). Throws what the database throws.
 */
export async function applyPushed(context: FollowerContext): Promise<number> {
  const { milestones, queries } = context.memory;
  let tried: { index: number; payload: Uint8Array } | undefined;
  const giver: Giver = {
    confirmed: Number.POSITIVE_INFINITY,
    async readMilestone(index) {
      const payload = milestones.at(index)[0];
      tried = payload && { index, payload };
      return payload;
    },
  };
  const unlimited = Number.POSITIVE_INFINITY;
  const pass = startPass({ deadline: unlimited, milestones: unlimited }, queries);
  for (;;) {
    try {
      await applyUpTo(context, giver, pass);
      return pass.applied;
    } catch (error) {
      const isMissing = error instanceof ConeUnavailable || error instanceof UpstreamFailure;
      if (isMissing || error instanceof LedgerMoved) return pass.applied;
      // anybody can make up a milestone; what is wrong with a signed one is found by a pass
      if (!(error instanceof Divergence) || tried === undefined) throw error;
      milestones.refuse(tried.index, tried.payload);
      await pause(REFUSED_MS);
    }
  }
}

/** Applies milestones until the ledger is at the giver's confirmed or the final one, or cannot. */
async function applyUpTo(context: FollowerContext, giver: Giver, pass: PassState): Promise<Ending> {
  const { finalMilestone = Number.POSITIVE_INFINITY, memory } = context;
  const { budget, applied: appliedBefore } = pass;
  const confirmed = Math.min(giver.confirmed, finalMilestone);
  let position = await readPosition(context.db, context);
  noteLedger(memory, position);
  const { times } = memory.progress;
  while (position.head.ledger < confirmed) {
    const unsupported = position.announced.unsupportedAfter(position.head.ledger);
    if (unsupported !== undefined)
      return { kind: 'stopped', reason: `protocol version ${unsupported} is not known here` };
    const isLate =
      pass.applied > appliedBefore &&
      (Date.now() > budget.deadline || isSpent(memory, pass.queriesBefore));
    if (pass.applied >= budget.milestones || isLate) return { kind: 'budget-spent' };
    const done = new Map(memory.missing.map((cone) => [cone, workDone([cone])]));
    try {
      if (!(await applyNext(context, giver, position, pass))) break;
    } catch (error) {
      if (!(error instanceof ConeUnavailable) || error.fault !== 'over-budget') throw error;
      const reason = memory.progress.times === times ? error.message : undefined;
      // a walk that is done again is no progress, but is its upstream's turn until it is done
      const isOn =
        reason === undefined ||
        memory.missing.some((cone) => workDone([cone]) > (done.get(cone) ?? 0));
      return isOn ? { kind: 'budget-spent', reason } : { kind: 'stuck', reason: error.message };
    }
    position = await readPosition(context.db, context);
    noteLedger(memory, position);
    await context.publish(giver.upstream !== undefined && position.head.ledger < confirmed);
  }
  return position.head.ledger === confirmed
    ? { kind: 'level', position }
    : { kind: 'behind', position };
}

/** Blocks of a past cone that were walked and stored. */
const workDone = (cones: readonly MissingCone[]) =>
  cones.reduce((sum, { walked, stored }) => sum + walked + stored, 0);

/** Applies the milestone after the ledger's; returns false if the giver does not have it. */
async function applyNext(
  { db, memory, announce }: FollowerContext,
  { readMilestone, upstream }: Giver,
  position: LedgerPosition,
  pass: PassState,
): Promise<boolean> {
  const started = Date.now();
  const { rules, head } = position;
  const payload = await readMilestone(head.ledger + 1);
  if (payload === undefined) return false;
  const verified = await verifyMilestone(payload, position, rules);
  pass.signed = head.ledger + 1;
  const waitUntil = started + MILESTONE_FETCH_MS;
  const { pool } = memory;
  const fetch = createConeFetcher({ pool, upstream, budget: pass, deadline: waitUntil });
  const { deadline } = pass.budget;
  const tools = { memory, rules, fetch, upstream, budget: pass, deadline, waitUntil };
  const applied = await completeMilestone(db, head, verified, tools);
  memory.counts.milestones++;
  const pushed = upstream === undefined ? true : undefined;
  writeLog('info', 'follower.milestone-applied', { ...applied, pushed, ms: Date.now() - started });
  announce?.(applied.index);
  pass.applied++;
  return true;
}
