/**
 * What the follower has done since its object started, for GET /metrics. It is kept in memory only:
 * to write it down would cost rows with each milestone.
 */
import type { UpstreamHeads } from '../upstream/upstream.ts';

/** Of one upstream. */
export interface UpstreamCounts {
  /** Its host. */
  name: string;
  /** As it said last; undefined where it was not asked yet, or never answered. */
  heads: { confirmed: number; latest: number } | undefined;
  /** Times that it did not answer, or not as its API does. */
  failures: number;
  /** Times that it said what contradicts our ledger or our keys. */
  divergences: number;
}

export interface FollowerCounts {
  /** When counting began, Unix milliseconds. */
  since: number;
  milestones: number;
  /** Unreferenced blocks that were dropped: too old, or too many. */
  orphans: number;
  evicted: number;
  /** In D1, by the follower and the publisher. */
  rowsWritten: number;
  /** By their places in UPSTREAM_URL, from 0. */
  upstreams: Map<number, UpstreamCounts>;
}

export function createFollowerCounts(now: number): FollowerCounts {
  return {
    since: now,
    milestones: 0,
    orphans: 0,
    evicted: 0,
    rowsWritten: 0,
    upstreams: new Map(),
  };
}

/** Counts what came of asking the upstream at a place: its heads, or the way in which it failed. */
export function countUpstream(
  { upstreams }: FollowerCounts,
  place: number,
  name: string,
  outcome: UpstreamHeads | 'failed' | 'diverged',
): void {
  const counts = upstreams.get(place) ?? { name, heads: undefined, failures: 0, divergences: 0 };
  upstreams.set(place, counts);
  if (outcome === 'failed') counts.failures++;
  else if (outcome === 'diverged') counts.divergences++;
  else counts.heads = { confirmed: outcome.confirmed, latest: outcome.latest.index };
}
