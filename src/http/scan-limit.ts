/**
 * Requests that scan, one at a time, where one isolate and one database answer everything: between
 * two of them whatever else waits for the database gets its turn. Elsewhere rate limits are bound
 * (rate-limit.ts), and D1 has its own queue.
 *
 * A request that waits looks again by itself, and what runs has a lease: workerd drops a request
 * whose client has gone, without a word, so that nothing could be handed on by it.
 */
import { hasPassed } from '../clock.ts';
import { HttpError } from './errors.ts';

/** A scan takes some 30 ms, and its request may have been dropped. */
const LEASE_MS = 5000;

/** Milliseconds until it is looked again; it doubles up to the longest. */
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 40;

/** Milliseconds of pauses after which a request is refused. */
const MAX_WAIT_MS = 2000;

const RETRY_AFTER_SECONDS = '2';

/** Does the work when no other is done. Throws an HttpError 429 where that takes too long. */
export type ScanLimit = <T>(work: () => Promise<T>) => Promise<T>;

/** @param clock Unix milliseconds */
export function createScanLimit(clock: () => number): ScanLimit {
  let running: { since: number } | undefined;
  const isTaken = () => running !== undefined && !hasPassed(LEASE_MS, running.since, clock());
  return async (work) => {
    let waited = 0;
    for (let pause = FIRST_PAUSE_MS; isTaken(); pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      if (waited >= MAX_WAIT_MS)
        throw new HttpError(429, 'too many requests that scan are waiting', {
          'retry-after': RETRY_AFTER_SECONDS,
        });
      waited += pause;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    const own = { since: clock() };
    running = own;
    try {
      return await work();
    } finally {
      if (running === own) running = undefined;
    }
  };
}
