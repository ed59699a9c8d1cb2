/**
 * What anonymous requests can make us ask of the upstreams: a budget of blocks, a number of
 * requests at once, and a circuit breaker that opens when the upstreams fail repeatedly.
 *
 * Each isolate has quotas of its own, one for each kind of request: a flood of one kind takes
 * nothing of another. That keeps a flood from passing through, and costs no round trip.
 */
import { hasPassed } from '../clock.ts';
import { createSharedLimit } from '../shared-limit.ts';
import type { ProposalSource } from './fetch-blocks.ts';
import { UpstreamFailure } from './upstream.ts';

const WINDOW_MS = 10_000;

/** After so many failures in a row the circuit breaker opens, and nothing is asked for so long. */
const MAX_FAILURES_IN_A_ROW = 5;
const PAUSE_MS = 1000;

/** Milliseconds that a request waits until it may ask: a third of the time that it has. */
const MAX_WAIT_MS = 500;

/** The source, as far as the quota allows: its functions throw an UpstreamFailure beyond it. */
export type FetchQuota = (source: ProposalSource) => ProposalSource;

/**
 * @param clock Unix milliseconds
 * @param blocks that all requests under this quota may have fetched or asked about in ten seconds
 * @param atOnce how many of them may ask at once; the others wait
 */
export function createFetchQuota(
  clock: () => number,
  blocks: number,
  atOnce = Number.POSITIVE_INFINITY,
): FetchQuota {
  const budget = createBudget(clock, blocks);
  const refuse = () => new UpstreamFailure('too many requests wait for blocks');
  const limit = createSharedLimit(clock, { places: atOnce, maxWaitMs: MAX_WAIT_MS, refuse });
  const breaker = createCircuitBreaker(clock);
  const askWithin = async <T>(
    ids: readonly string[],
    ask: (ids: readonly string[]) => Promise<T>,
  ): Promise<T> => {
    breaker.check();
    budget.spend(ids.length);
    return limit(async () => {
      try {
        const answer = await ask(ids);
        breaker.succeed();
        return answer;
      } catch (error) {
        // a block that nobody knows is no fault of the upstreams
        if (error instanceof UpstreamFailure) breaker.fail();
        throw error;
      }
    });
  };
  return (source) => ({
    ...source,
    fetch: (ids) => askWithin(ids, source.fetch),
    requireUnreferenced: (ids) => askWithin(ids, source.requireUnreferenced),
  });
}

function createBudget(clock: () => number, quota: number): { spend(blocks: number): void } {
  let begun = Number.NEGATIVE_INFINITY;
  let spent = 0;
  return {
    spend(blocks) {
      const now = clock();
      if (hasPassed(WINDOW_MS, begun, now)) {
        begun = now;
        spent = 0;
      }
      spent += blocks;
      if (spent > quota) throw new UpstreamFailure('requests asked about too many blocks');
    },
  };
}

/** `check` throws while the circuit breaker is open. */
function createCircuitBreaker(clock: () => number): {
  check(): void;
  succeed(): void;
  fail(): void;
} {
  let failuresInARow = 0;
  let openedAt = Number.NEGATIVE_INFINITY;
  return {
    check() {
      if (!hasPassed(PAUSE_MS, openedAt, clock()))
        throw new UpstreamFailure('upstreams failed repeatedly, they are left alone for a moment');
    },
    succeed() {
      failuresInARow = 0;
    },
    fail() {
      if (++failuresInARow < MAX_FAILURES_IN_A_ROW) return;
      failuresInARow = 0;
      openedAt = clock();
    },
  };
}
