/**
 * Limits on requests (docs/operations.md#rate-limits): a rate for each client address, where one is
 * bound, and one scan at a time, where one isolate and one database answer everything. Elsewhere D1
 * has its own queue.
 */
import { hasPassed } from '../../clock.ts';
import { HttpError } from '../errors.ts';

/** The longer of the two periods that Cloudflare has; the binding does not tell which one it is. */
const RATE_RETRY_AFTER_SECONDS = '60';

/**
 * Throws an HttpError 429 where the client's address is over the limit. It is counted in each
 * location, approximately
 * (https://developers.cloudflare.com/workers/runtime-apis/bindings/rate-limit/).
 */
export async function checkRate(limit: RateLimit | undefined, request: Request): Promise<void> {
  if (limit === undefined) return;
  const { success } = await limit.limit({
    key: request.headers.get('cf-connecting-ip') ?? 'unknown',
  });
  if (!success)
    throw new HttpError(429, 'wait before the next request', {
      'retry-after': RATE_RETRY_AFTER_SECONDS,
    });
}

/** A scan takes some 30 ms, and its request may have been dropped. */
const LEASE_MS = 5000;

/** Milliseconds until it is looked again; it doubles up to the longest. */
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 40;

/** Milliseconds of pauses after which a request is refused. */
const MAX_WAIT_MS = 2000;

const SCAN_RETRY_AFTER_SECONDS = '2';

/** Runs the work when no other runs. Throws an HttpError 429 where that takes too long. */
export type ScanLimit = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Runs scans one at a time, so that other requests get their turn at the database between two.
 *
 * A request that waits polls, and the one that runs has a lease: workerd drops a request whose
 * client has gone, without notice, so it could not hand anything on.
 *
 * @param clock Unix milliseconds
 */
export function createScanLimit(clock: () => number): ScanLimit {
  let running: { since: number } | undefined;
  const isTaken = () => running !== undefined && !hasPassed(LEASE_MS, running.since, clock());
  return async (work) => {
    let waited = 0;
    for (let pause = FIRST_PAUSE_MS; isTaken(); pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      if (waited >= MAX_WAIT_MS)
        throw new HttpError(429, 'too many requests that scan are waiting', {
          'retry-after': SCAN_RETRY_AFTER_SECONDS,
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
