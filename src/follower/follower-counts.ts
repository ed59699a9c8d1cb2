/** Counts of the follower since its object started, for GET /metrics: in memory, as rows cost. */
import type { UpstreamHeads } from '../upstream/upstream.ts';

export interface UpstreamCounts {
  /** Host of the upstream. */
  name: string;
  /** The last answer; undefined before the first. */
  heads: { confirmed: number; latest: number } | undefined;
  /** Times that it did not answer, or not as its API does. */
  failures: number;
  /** Times that it said what contradicts our ledger or our keys. */
  divergences: number;
}

export interface FollowerCounts {
  /** Unix milliseconds when counting began. */
  since: number;
  milestones: number;
  /** Unreferenced blocks that were dropped: too old, or too many. */
  orphans: number;
  evicted: number;
  /** Rows written to D1 by the follower and the publisher. */
  rowsWritten: number;
  /** Counts by place in UPSTREAM_URL, from 0. */
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

/** Counts the outcome of one query: the heads, or the way in which it failed. */
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
