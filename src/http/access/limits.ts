/**
 * Limits on requests (docs/operations.md#rate-limits): a rate for each client address, where one is
 * bound, and places for long work, where one isolate and one database answer everything.
 *
 * Work without a place waits in a queue, in which clients take turns; work that cannot begin in time
 * is refused when it comes. Work that ends wakes the first in the queue. But D1 may hang, and the
 * platform ends a request in time without notice: so work has a lease, waiters also look by
 * themselves, and one that has not looked for as long is forgotten.
 */
import { clientPath } from '../../platform/client-path.ts';
import { hasPassed, nextTurn } from '../../platform/clock.ts';
import { describeError, writeLimitedLog } from '../../platform/log.ts';
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
    if (await mayAsk(limit, key)) continue;
    const headers = { 'retry-after': RATE_RETRY_AFTER_SECONDS };
    throw new HttpError(429, 'wait before the next request', headers);
  }
}

/** Says yes where the limit fails: what is done at once is bounded all the same. */
async function mayAsk(limit: RateLimit, key: string): Promise<boolean> {
  try {
    return (await limit.limit({ key })).success;
  } catch (error) {
    writeLimitedLog('warn', 'http.limit-failed', { error: describeError(error) });
    return true;
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
const PLACES = { proposal: 2, scan: 1, explanation: 1, gallery: 6 } as const;

export type Work = keyof typeof PLACES;

/** Names those with whom the client shares turns and refusals. */
export const siteOf = (request: Request): string => clientPath(clientKeyOf(request))[0];

/** Milliseconds of pauses after which a request is refused. */
const MAX_WAIT_MS = 2000;

/** Longer than work takes unless D1 hangs, and longer than between two looks. */
const LEASE_MS = 5000;

/** Milliseconds until one that waits looks again. */
const LOOK_EVERY_MS = 40;

/** Runs the work of a request as soon as there is a place for it. */
export type WorkLimit = (<T>(request: Request, work: () => Promise<T>) => Promise<T>) & {
  /** Has a request that waits take the next turn of the client of another, if that is earlier. */
  hasten(waiting: Request, by: Request): void;
};

interface Waiter {
  request: Request;
  site: string;
  /** The round in which it is served: a site has one place at most in each. */
  round: number;
  lookedAt: number;
  wake: () => void;
}

/**
 * Runs work of a kind in its places. Throws an HttpError 429 if it waits too long.
 *
 * @param clock Unix milliseconds
 */
export function createWorkLimit(clock: () => number, kind: Work): WorkLimit {
  const places = PLACES[kind];
  const headers = { 'retry-after': '2' };
  const refuse = () => new HttpError(429, `too many requests wait: ${kind}`, headers);
  const leases = new Set<{ since: number }>();
  /** Waiters by rounds; in a round first come, first. */
  const queue: Waiter[] = [];
  /** The round of whoever had a place last. */
  let round = 0;
  /** The mean time of work, the newest weighing most; a guess at first. */
  let meanMs = 10;

  const isForgotten = (since: number) => hasPassed(LEASE_MS, since, clock());

  const isFull = () => {
    for (const lease of leases) if (isForgotten(lease.since)) leases.delete(lease);
    while (queue[0] && isForgotten(queue[0].lookedAt)) queue.shift();
    return leases.size >= places;
  };

  const enter = (waiter: Waiter) =>
    queue.splice(queue.findLastIndex((each) => each.round <= waiter.round) + 1, 0, waiter);

  function isFirst(waiter: Waiter): boolean {
    // it was there, and the isolate was busy
    if (!queue.includes(waiter)) enter(waiter);
    return queue[0] === waiter;
  }

  /** The site of the request, and the next round in which it has no place. */
  function turnOf(request: Request): Pick<Waiter, 'site' | 'round'> {
    const site = siteOf(request);
    const last = queue.findLast((each) => each.site === site)?.round ?? 0;
    return { site, round: Math.max(round, last) + 1 };
  }

  async function wait(request: Request): Promise<void> {
    const waiter: Waiter = {
      request,
      ...turnOf(request),
      lookedAt: clock(),
      wake: () => {},
    };
    enter(waiter);
    try {
      if (((queue.indexOf(waiter) + 1) * meanMs) / places > MAX_WAIT_MS) throw refuse();
      for (let waited = 0; isFull() || !isFirst(waiter); waited += LOOK_EVERY_MS) {
        if (waited >= MAX_WAIT_MS) throw refuse();
        await new Promise<void>((resolve) => {
          waiter.wake = resolve;
          setTimeout(resolve, LOOK_EVERY_MS);
        });
        waiter.lookedAt = clock();
      }
      round = Math.max(round, waiter.round);
    } finally {
      const place = queue.indexOf(waiter);
      if (place >= 0) queue.splice(place, 1);
    }
  }

  function hasten(waiting: Request, by: Request): void {
    const waiter = queue.find(({ request }) => request === waiting);
    const turn = turnOf(by);
    if (waiter === undefined || waiter.round <= turn.round) return;
    queue.splice(queue.indexOf(waiter), 1);
    enter(Object.assign(waiter, turn));
  }

  async function run<T>(request: Request, work: () => Promise<T>): Promise<T> {
    if (isFull() || queue.length > 0) await wait(request);
    const lease = { since: clock() };
    leases.add(lease);
    const began = performance.now();
    try {
      // whoever ends wakes the next one in the same turn; a proposal begins with a read of D1
      if (kind !== 'proposal') await nextTurn();
      return await work();
    } finally {
      leases.delete(lease);
      // long work of one client has nobody refused who is among the first to wait
      // in workerd this clock may be set back
      const ms = Math.max(0, performance.now() - began);
      meanMs += (Math.min(ms, MAX_WAIT_MS / 4) - meanMs) / 8;
      queue[0]?.wake();
    }
  }
  return Object.assign(run, { hasten });
}
