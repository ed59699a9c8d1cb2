/**
 * A limit on what the requests of one isolate do at once. The others wait, each by itself.
 *
 * A request that waits polls, and one that works has a lease: workerd drops a request whose client
 * has gone, without notice, so it could not hand anything on.
 */
import { hasPassed } from './clock.ts';

/** Longer than the work takes; its request may have been dropped. */
const LEASE_MS = 5000;

/** Milliseconds until a request looks again; they double up to the longest. */
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 40;

export interface SharedLimitOptions {
  /** How many do their work at once. */
  places: number;
  /** Milliseconds of pauses after which a request is refused. */
  maxWaitMs: number;
  /** What it throws then. */
  refuse: () => Error;
}

/** Does the work as soon as there is a place for it. */
export type SharedLimit = <T>(work: () => Promise<T>) => Promise<T>;

/** @param clock Unix milliseconds */
export function createSharedLimit(
  clock: () => number,
  { places, maxWaitMs, refuse }: SharedLimitOptions,
): SharedLimit {
  const leases = new Set<{ since: number }>();
  const isFull = () => {
    for (const lease of leases) if (hasPassed(LEASE_MS, lease.since, clock())) leases.delete(lease);
    return leases.size >= places;
  };
  return async (work) => {
    let waited = 0;
    for (let pause = FIRST_PAUSE_MS; isFull(); pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      if (waited >= maxWaitMs) throw refuse();
      waited += pause;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    const lease = { since: clock() };
    leases.add(lease);
    try {
      return await work();
    } finally {
      leases.delete(lease);
    }
  };
}
