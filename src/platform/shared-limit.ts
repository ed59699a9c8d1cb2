/**
 * A limit on the work of one isolate's requests. The others wait in a queue; one that cannot be
 * served in time is refused when it comes. Work that ends wakes the first in the queue. But workerd
 * drops a request whose client has gone, without notice: so work has a lease, waiters also look by
 * themselves, and one that has not looked for long is skipped.
 */
import { hasPassed } from './clock.ts';

/** Longer than the work takes; its request may have been dropped. */
const LEASE_MS = 5000;

/** Milliseconds until one that waits looks again. */
const LOOK_EVERY_MS = 40;

/** Milliseconds without a look after which a waiter was dropped, unless the isolate was busy. */
const DROPPED_AFTER_MS = 250;

/** Milliseconds that work takes, before any was measured. */
const FIRST_GUESS_MS = 10;

/** The part of the newest measurement in the mean. */
const WEIGHT = 1 / 8;

export interface SharedLimitOptions {
  /** How many do their work at once. */
  places: number;
  /** Milliseconds of pauses after which a request is refused. */
  maxWaitMs: number;
  refuse: () => Error;
}

/** Runs the work as soon as there is a place for it. */
export type SharedLimit = <T>(work: () => Promise<T>) => Promise<T>;

interface Waiter {
  lookedAt: number;
  wake: () => void;
}

/** @param clock Unix milliseconds */
export function createSharedLimit(
  clock: () => number,
  { places, maxWaitMs, refuse }: SharedLimitOptions,
): SharedLimit {
  const leases = new Set<{ since: number }>();
  /** First come, first. */
  const queue: Waiter[] = [];
  let meanMs = FIRST_GUESS_MS;

  const isFull = () => {
    for (const lease of leases) if (hasPassed(LEASE_MS, lease.since, clock())) leases.delete(lease);
    return leases.size >= places;
  };

  function isFirst(waiter: Waiter): boolean {
    // passed over though it was not dropped
    if (!queue.includes(waiter)) queue.unshift(waiter);
    while (queue[0] !== waiter && hasPassed(DROPPED_AFTER_MS, queue[0]!.lookedAt, clock()))
      queue.shift();
    return queue[0] === waiter;
  }

  async function wait(): Promise<void> {
    if (((queue.length + 1) * meanMs) / places > maxWaitMs) throw refuse();
    const waiter: Waiter = { lookedAt: clock(), wake: () => {} };
    queue.push(waiter);
    try {
      for (let waited = 0; isFull() || !isFirst(waiter); waited += LOOK_EVERY_MS) {
        if (waited >= maxWaitMs) throw refuse();
        await new Promise<void>((resolve) => {
          waiter.wake = resolve;
          setTimeout(resolve, LOOK_EVERY_MS);
        });
        waiter.lookedAt = clock();
      }
    } finally {
      const place = queue.indexOf(waiter);
      if (place >= 0) queue.splice(place, 1);
    }
  }

  return async (work) => {
    if (isFull() || queue.length > 0) await wait();
    const lease = { since: clock() };
    leases.add(lease);
    const began = performance.now();
    try {
      return await work();
    } finally {
      leases.delete(lease);
      meanMs += (performance.now() - began - meanMs) * WEIGHT;
      queue[0]?.wake();
    }
  };
}
