/** State of the follower, kept in D1 for health and info, which other isolates answer. */
import { LedgerDamaged } from '../ledger/core/checksum.ts';
import type { Database } from '../ledger/core/database.ts';
import { LedgerMoved } from '../ledger/core/fence.ts';
import { LedgerUnreadable } from '../ledger/core/head.ts';
import { describeError, type WriteLog } from '../platform/log.ts';
import type { UpstreamHeads } from '../upstream/upstream.ts';
import type { FollowerMemory } from './follower-context.ts';
import { stepOf } from './steps.ts';

/**
 * `following`: all is well; `progress` if one milestone takes several passes. `diverged`: an upstream
 * contradicts us on the next milestone, and none took the ledger on since. `failing`: passes fail,
 * or make no progress (store/progress.ts) although an upstream has the next milestone. `stopped`: an
 * operator must act. Reasons and progress are for people: ASCII.
 */
export type FollowerState =
  | { state: 'following'; upstream: UpstreamHeads['latest']; progress?: string }
  | { state: 'diverged' | 'failing' | 'stopped'; reason: string };

/** Writes only what changed, or is damaged and known: the state is the same most of the time. */
const SAVE = `
  INSERT INTO follower (one, state, reason, upstream_index, upstream_timestamp, upstream_id)
  VALUES (1, ?1, ?2, ?3, ?4, ?5)
  ON CONFLICT (one) DO UPDATE SET state = ?1, reason = ?2,
    upstream_index = coalesce(?3, upstream_index),
    upstream_timestamp = coalesce(?4, upstream_timestamp), upstream_id = coalesce(?5, upstream_id)
  WHERE (state, reason) IS NOT (?1, ?2) OR (?3 IS NOT NULL
    AND (upstream_index, upstream_timestamp, upstream_id) IS NOT (?3, ?4, ?5))`;

export async function saveFollowerState(db: Database, follower: FollowerState): Promise<void> {
  const reason = follower.state === 'following' ? (follower.progress ?? null) : follower.reason;
  const upstream = follower.state === 'following' ? follower.upstream : undefined;
  const { index = null, timestamp = null, milestoneId = null } = upstream ?? {};
  await db.prepare(SAVE).bind(follower.state, reason, index, timestamp, milestoneId).run();
}

/** Writes what changed, and the time no more often than that: a row is billed. */
const SAVE_BLOCKS = `
  UPDATE follower SET blocks_by = ?1, newest_block = coalesce(?2, newest_block),
    token = coalesce(?4, token)
  WHERE blocks_by IS NOT ?1 OR (?2 IS NOT NULL AND abs(?2 - coalesce(newest_block, 0)) >= ?3)
    OR token IS NOT coalesce(?4, token)`;

const NEWEST_BLOCK_SECONDS = 10;

/** Saves how blocks come, when the newest was stored, and the token that an upstream named. */
export async function saveBlocksStatus(
  db: Database,
  by: 'feed' | 'polling',
  { tips: { newestBlock: newest }, upstreams }: FollowerMemory,
): Promise<void> {
  const seconds = newest === undefined ? null : Math.floor(newest / 1000);
  await db
    .prepare(SAVE_BLOCKS)
    .bind(by, seconds, NEWEST_BLOCK_SECONDS, upstreams.token ?? null)
    .run();
}

const SINCE_RESTART = 'since then the follower was restarted, and no upstream answered';

/** A reason stands until something else is learnt, and may be one that an operator has removed. */
const QUALIFY = `
  UPDATE follower SET reason = reason || ?1
  WHERE state <> 'following' AND substr(reason, -length(?1)) <> ?1`;

/** Marks the state of an earlier object, for one that has learnt nothing yet. */
export async function qualifyFollowerState(db: Database): Promise<void> {
  await db.prepare(QUALIFY).bind(`; ${SINCE_RESTART}`).run();
}

/** Saves and logs that an operator is needed. */
export async function stopFollowing(db: Database, reason: string, log: WriteLog): Promise<void> {
  log('error', 'follower.stopped', { reason });
  await saveFollowerState(db, { state: 'stopped', reason });
}

/** Failed passes in a row: one may meet another follower or a lost connection, not three. */
const FAILING_AFTER = 3;

/** Why passes are `failing` by now; undefined if they are not. */
export function whyFailing({ failed, progress, lastLedger }: FollowerMemory): string | undefined {
  if (failed === undefined || failed.times < FAILING_AFTER || failed.progress !== progress.times)
    return undefined;
  const where = lastLedger
    ? `no pass gets beyond milestone ${lastLedger.ledger}`
    : 'no pass begins';
  return `${where}: ${failed.reason}`;
}

/** Counts a pass that failed or got nowhere, and logs if passes are `failing` by now. */
export function noteFruitlessPass(memory: FollowerMemory, reason: string): void {
  const { failed, progress } = memory;
  const before = failed?.progress === progress.times ? failed.times : 0;
  memory.failed = { progress: progress.times, times: before + 1, reason };
  const failing = whyFailing(memory);
  if (failing !== undefined) memory.log('error', 'follower.failing', { reason: failing });
}

/** Errors whose messages are sentences of ours. */
const OURS = [LedgerDamaged, LedgerMoved, LedgerUnreadable];

/** Counts a pass that failed. If passes are `failing`, saves and logs that. */
export async function noteFailedPass(
  db: Database,
  memory: FollowerMemory,
  error: unknown,
): Promise<void> {
  // health shows it to everybody; the log has the rest
  const isOurs = OURS.some((kind) => error instanceof kind);
  const message = isOurs ? (error as Error).message : 'the database or the node failed';
  const step = stepOf(error);
  noteFruitlessPass(memory, step === undefined ? message : `${message} (step ${step})`);
  const failing = whyFailing(memory);
  if (failing === undefined) return;
  memory.hasState = true;
  try {
    await saveFollowerState(db, { state: 'failing', reason: failing });
  } catch (failure) {
    memory.log('error', 'follower.state-not-saved', { error: describeError(failure) });
  }
}
