/**
 * What anonymous requests can make us ask of the upstreams: a budget of blocks, and a circuit
 * breaker that opens when the upstreams fail again and again.
 *
 * Each isolate has a quota of its own. That keeps a flood of requests from passing through, and
 * costs no round trip.
 */
import type { ProposalSource } from './fetch-blocks.ts';
import { UpstreamFailure } from './upstream.ts';

/**
 * Blocks that all requests of one isolate may have fetched or asked about in one window. A busy
 * coordinator needs a tenth of it.
 */
const QUOTA_BLOCKS = 20_000;
const WINDOW_MS = 10_000;

/** After so many failures in a row the circuit breaker opens, and nothing is asked for so long. */
const MAX_FAILURES_IN_A_ROW = 5;
const PAUSE_MS = 1000;

/** The source, as far as the quota allows: its functions throw an UpstreamFailure beyond it. */
export type FetchQuota = (source: ProposalSource) => ProposalSource;

/** @param clock Unix milliseconds */
export function createFetchQuota(clock: () => number): FetchQuota {
  const budget = createBudget(clock);
  const breaker = createCircuitBreaker(clock);
  const askWithin = async <T>(
    ids: readonly string[],
    ask: (ids: readonly string[]) => Promise<T>,
  ): Promise<T> => {
    breaker.check();
    budget.spend(ids.length);
    try {
      const answer = await ask(ids);
      breaker.succeed();
      return answer;
    } catch (error) {
      // a block that nobody knows is no fault of the upstreams
      if (error instanceof UpstreamFailure) breaker.fail();
      throw error;
    }
  };
  return (source) => ({
    ...source,
    fetch: (ids) => askWithin(ids, source.fetch),
    requireOpen: (ids) => askWithin(ids, source.requireOpen),
  });
}

function createBudget(clock: () => number): { spend(blocks: number): void } {
  let windowEnd = 0;
  let spent = 0;
  return {
    spend(blocks) {
      const now = clock();
      if (now >= windowEnd) {
        windowEnd = now + WINDOW_MS;
        spent = 0;
      }
      spent += blocks;
      if (spent > QUOTA_BLOCKS) throw new UpstreamFailure('requests asked about too many blocks');
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
  let closesAt = 0;
  return {
    check() {
      if (clock() < closesAt)
        throw new UpstreamFailure('upstream failed again and again, it is left alone for a moment');
    },
    succeed() {
      failuresInARow = 0;
    },
    fail() {
      if (++failuresInARow < MAX_FAILURES_IN_A_ROW) return;
      failuresInARow = 0;
      closesAt = clock() + PAUSE_MS;
    },
  };
}
