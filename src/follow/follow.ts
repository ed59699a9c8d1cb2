/**
 * One pass of following: from where the ledger stands to where the upstream is, within budgets (design §5).
 *
 * A pass may be cut off anywhere. What it has done is in D1, each milestone whole; the next pass begins by reading it.
 */

import { LedgerMoved } from '../ledger/fence.ts';
import { BeyondBudget, UnknownBlock } from '../ledger/gather.ts';
import { type Head, headFromRow, type KnownMilestone, milestoneFromRow, SELECT_HEAD } from '../ledger/head.ts';
import type { IntakeRules } from '../ledger/intake.ts';
import { admittingParameters, parameterTable, SELECT_PARAMETERS } from '../ledger/parameters.ts';
import { prune } from '../ledger/prune.ts';
import { type Database, runBatch } from '../ledger/rows.ts';
import { describeError, writeLog } from '../log.ts';
import type { ParsedBlock } from '../stardust/block.ts';
import type { MilestoneKeys, VerifySignature } from '../stardust/milestone-keys.ts';
import { createBlockMemory } from './block-memory.ts';
import { milestoneSource } from './fetch-blocks.ts';
import { saveFollowerState, stopFollowing } from './state.ts';
import { storeTips } from './store-tips.ts';
import { takeInMilestone } from './take-in.ts';
import { type Upstream, UpstreamFailure } from './upstream.ts';
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
  fetched: Map<string, ParsedBlock>;
  /** Those of them that were found to be open, by ledger. */
  open: ReturnType<typeof createBlockMemory>;
}

/** Bytes of heap for open blocks that wait to be stored. */
const MAX_REMEMBERED = 32_000_000;

export function createPassMemory(): PassMemory {
  return { fetched: new Map(), open: createBlockMemory(MAX_REMEMBERED) };
}

export interface PassBudget {
  /** Unix milliseconds after which no milestone is begun. */
  deadline: number;
  /** Milestones in one pass. */
  milestones: number;
  /** Whether to leave out what is not urgent: storing tips, pruning. */
  milestonesOnly?: boolean;
}

export interface PassResult {
  applied: number;
  /** More to do right away. */
  behind: boolean;
}

/** The most blocks fetched for one milestone, and milliseconds for it. */
const MAX_CONE = 60_000;
const MILESTONE_TIMEOUT = 60_000;

/** Blocks kept in memory between passes. */
const MAX_FETCHED = 5000;

export async function followOnce(following: Following, budget: PassBudget): Promise<PassResult> {
  let diverged: string | undefined;
  for (const upstream of following.upstreams) {
    try {
      const result = await followUpstream(following, upstream, budget);
      if (!budget.milestonesOnly) await pruneIfPossible(following);
      await following.publish(result.behind);
      return result;
    } catch (error) {
      if (error instanceof LedgerMoved) {
        // somebody else is at work: to go on at once would only be in the way
        writeLog('info', 'ledger moved', { detail: error.message });
        return { applied: 0, behind: false };
      }
      if (!isUpstreams(error)) throw error;
      // the next try asks afresh: what this one sent may be what is wrong
      following.memory.fetched.clear();
      if (error instanceof Divergence) diverged = error.message;
      writeLog('warn', error instanceof Divergence ? 'upstream diverges' : 'upstream fails', {
        upstream: upstream.name,
        detail: error.message,
      });
    }
  }
  if (diverged !== undefined) await saveFollowerState(following.db, { state: 'diverged', reason: diverged });
  await following.publish(false);
  return { applied: 0, behind: false };
}

function isUpstreams(error: unknown): error is Error {
  return [Divergence, UpstreamFailure, UnknownBlock, BeyondBudget].some((kind) => error instanceof kind);
}

async function followUpstream(following: Following, upstream: Upstream, budget: PassBudget): Promise<PassResult> {
  const { db } = following;
  const heads = await upstream.readHeads();
  let applied = 0;
  const finish = async (behind: boolean): Promise<PassResult> => {
    await saveFollowerState(db, { state: 'following', upstream: heads.latest });
    return { applied, behind };
  };
  let at = await readPosition(db, following);
  while (at.head.ledger < heads.confirmed) {
    if (at.unsupported !== undefined) {
      await stopFollowing(db, `protocol version ${at.unsupported} is not known here`);
      return { applied, behind: false };
    }
    if (applied >= budget.milestones || Date.now() > budget.deadline) return finish(true);
    await takeInNext(following, upstream, at);
    applied++;
    at = await readPosition(db, following);
    await following.publish(at.head.ledger < heads.confirmed);
  }
  if (at.head.ledger === heads.confirmed && !budget.milestonesOnly) await storeTipsIfPossible(following, upstream, at);
  if (following.memory.fetched.size > MAX_FETCHED) following.memory.fetched.clear();
  return finish(false);
}

/** Tips are stored to save requests the fetching; whatever is in the way of it holds nothing up. */
async function storeTipsIfPossible(
  { db, memory: { fetched, open } }: Following,
  upstream: Upstream,
  { head, rules }: Position,
): Promise<void> {
  try {
    await storeTips(db, upstream, head, rules, open(head.generation, head.ledger), fetched);
  } catch (error) {
    writeLog('warn', 'tips not stored', { upstream: upstream.name, error: describeError(error) });
  }
}

/** What is not pruned now will be by a later pass. */
async function pruneIfPossible({ db, retention }: Following): Promise<void> {
  try {
    await prune(db, retention);
  } catch (error) {
    writeLog('warn', 'not pruned', { error: describeError(error) });
  }
}

interface Position {
  head: Head;
  milestone: KnownMilestone;
  rules: IntakeRules;
  /** A protocol version that the next milestone may bring and whose rules we do not know. */
  unsupported: number | undefined;
}

async function readPosition(db: Database, { keys, verify }: Following): Promise<Position> {
  const [heads, options] = await runBatch(db, [db.prepare(SELECT_HEAD).bind(null), db.prepare(SELECT_PARAMETERS)]);
  const row = heads![0];
  if (row === undefined) throw new Error('nothing to follow from: no snapshot was imported');
  const head = headFromRow(row);
  const milestone = milestoneFromRow(row);
  if (milestone === undefined) throw new Error(`the ledger is at ${head.ledger} and does not know that milestone`);
  const table = parameterTable(options!);
  const rules = { keys, verify, parameters: admittingParameters(table, head.ledger) };
  return { head, milestone, rules, unsupported: table.unsupportedAfter(head.ledger) };
}

async function takeInNext(
  following: Following,
  upstream: Upstream,
  { head, milestone, rules }: Position,
): Promise<void> {
  const index = head.ledger + 1;
  const started = Date.now();
  const payload = await upstream.readMilestone(index);
  if (payload === undefined) throw new UpstreamFailure(`${upstream.name} has no milestone ${index}`);
  const verified = await verifyMilestone(payload, head, milestone, rules.keys, rules.verify);
  const limits = { maxBlocks: MAX_CONE, deadline: started + MILESTONE_TIMEOUT };
  const taken = await takeInMilestone(
    following.db,
    verified,
    rules,
    milestoneSource([upstream], limits, following.memory.fetched),
  );
  following.memory.fetched.clear();
  writeLog('info', 'milestone applied', { ...taken, ms: Date.now() - started });
}
