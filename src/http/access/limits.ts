/**
 * Limits on requests (docs/operations.md#rate-limits): a rate for each client address, where one is
 * bound, and one scan at a time, where one isolate and one database answer everything. Elsewhere D1
 * has its own queue.
 */
import { createSharedLimit, type SharedLimit } from '../../shared-limit.ts';
import { HttpError } from '../errors.ts';
import { clientKeyOf } from './client-address.ts';

/** The longer of the two periods that Cloudflare has; the binding does not tell which one it is. */
const RATE_RETRY_AFTER_SECONDS = '60';

/**
 * Throws an HttpError 429 where the client is over the limit (client-address.ts). It is counted in
 * each location, approximately
 * (https://developers.cloudflare.com/workers/runtime-apis/bindings/rate-limit/).
 */
export async function checkRate(limit: RateLimit | undefined, request: Request): Promise<void> {
  if (limit === undefined) return;
  const { success } = await limit.limit({ key: clientKeyOf(request) });
  if (!success)
    throw new HttpError(429, 'wait before the next request', {
      'retry-after': RATE_RETRY_AFTER_SECONDS,
    });
}

/** Milliseconds that a scan waits for its turn. */
const MAX_SCAN_WAIT_MS = 2000;

const SCAN_RETRY_AFTER_SECONDS = '2';

/**
 * Runs scans one at a time, so that other requests get their turn at the database between two.
 * Throws an HttpError 429 where a scan waits too long.
 *
 * @param clock Unix milliseconds
 */
export function createScanLimit(clock: () => number): SharedLimit {
  const refuse = () =>
    new HttpError(429, 'too many requests that scan are waiting', {
      'retry-after': SCAN_RETRY_AFTER_SECONDS,
    });
  return createSharedLimit(clock, { places: 1, maxWaitMs: MAX_SCAN_WAIT_MS, refuse });
}
