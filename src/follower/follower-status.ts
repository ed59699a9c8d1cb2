/**
 * How the follower is doing, kept in D1 for health and info, which other isolates answer.
 */
import type { Database } from '../ledger/database.ts';
import { writeLog } from '../log.ts';
import type { UpstreamHeads } from '../upstream/upstream.ts';

/**
 * `following`: all is well. `diverged`: no upstream agrees with us on the next milestone.
 * `stopped`: the follower cannot go on until an operator has seen to the reason.
 *
 * Reasons are for people: ASCII.
 */
export type FollowerState =
  | { state: 'following'; upstream: UpstreamHeads['latest'] }
  | { state: 'diverged'; reason: string }
  | { state: 'stopped'; reason: string };

/** Writes only what changed: the state is the same most of the time. */
const SAVE = `
  INSERT INTO follower (one, state, reason, upstream_index, upstream_timestamp, upstream_id)
  VALUES (1, ?1, ?2, ?3, ?4, ?5)
  ON CONFLICT (one) DO UPDATE SET state = excluded.state, reason = excluded.reason,
    upstream_index = coalesce(excluded.upstream_index, upstream_index),
    upstream_timestamp = coalesce(excluded.upstream_timestamp, upstream_timestamp),
    upstream_id = coalesce(excluded.upstream_id, upstream_id)
  WHERE state <> excluded.state OR reason IS NOT excluded.reason
    OR upstream_index IS NOT coalesce(excluded.upstream_index, upstream_index)`;

export async function saveFollowerState(db: Database, follower: FollowerState): Promise<void> {
  const reason = follower.state === 'following' ? null : follower.reason;
  const upstream = follower.state === 'following' ? follower.upstream : undefined;
  const { index = null, timestamp = null, milestoneId = null } = upstream ?? {};
  await db.prepare(SAVE).bind(follower.state, reason, index, timestamp, milestoneId).run();
}

/** Saves and logs that an operator is needed. */
export async function stopFollowing(db: Database, reason: string): Promise<void> {
  writeLog('error', 'follower stopped', { reason });
  await saveFollowerState(db, { state: 'stopped', reason });
}
