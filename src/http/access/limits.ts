/**
 * Limits on requests (docs/operations.md#rate-limits): a rate for each client address, where one is
 * bound, and places for long work, where one isolate and one database answer everything.
 */
import { clientPath } from '../../platform/client-path.ts';
import { nextTurn } from '../../platform/clock.ts';
import { createSharedLimit, type SharedLimit } from '../../platform/shared-limit.ts';
import { HttpError } from '../errors.ts';
import { clientKeyOf } from './client-address.ts';

/** The longer of the two periods that Cloudflare has; the binding does not tell which one it is. */
const RATE_RETRY_AFTER_SECONDS = '60';

/** How often the networks of a /56, and of a /48, have the rate of one client. */
const RATES = { part: 4, site: 16 };

/**
 * Throws an HttpError 429 if the client, or its site of IPv6, is over the limit. It is counted in
 * each location, approximately
 * (https://developers.cloudflare.com/workers/runtime-apis/bindings/rate-limit/).
 */
export async function checkRate(limit: RateLimit | undefined, request: Request): Promise<void> {
  if (limit === undefined) return;
  // a client over its own limit takes nothing of its neighbours'
  for (const key of rateKeys(clientKeyOf(request))) {
    if ((await limit.limit({ key })).success) continue;
    const headers = { 'retry-after': RATE_RETRY_AFTER_SECONDS };
    throw new HttpError(429, 'wait before the next request', headers);
  }
}

/** The limit is the same for every key: a wider network has several. */
function rateKeys(client: string): string[] {
  const [site, part] = clientPath(client);
  if (part === undefined) return [client];
  const network = Number.parseInt(client.split(':')[3]!, 16);
  return [client, `${part} ${network % RATES.part}`, `${site} ${network % RATES.site}`];
}

/** Work that keeps the thread for long, and how much of each kind is done at once. */
const PLACES = { scan: 1, explanation: 1, gallery: 6 } as const;

export type Work = keyof typeof PLACES;

const MAX_WAIT_MS = 2000;

const RETRY_AFTER_SECONDS = '2';

/**
 * Runs work of a kind in its places. Throws an HttpError 429 if it waits too long.
 *
 * @param clock Unix milliseconds
 */
export function createWorkLimit(clock: () => number, kind: Work): SharedLimit {
  const headers = { 'retry-after': RETRY_AFTER_SECONDS };
  const refuse = () => new HttpError(429, `too many requests wait: ${kind}`, headers);
  const limit = createSharedLimit(clock, { places: PLACES[kind], maxWaitMs: MAX_WAIT_MS, refuse });
  return (work) =>
    limit(async () => {
      // whoever ends wakes the next one in the same turn
      await nextTurn();
      return work();
    });
}
