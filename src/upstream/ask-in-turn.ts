/**
 * Queries several upstreams one after the other, until one of them has the answer. One that was
 * good where the ones before it were not comes first from then on, so that not every query waits
 * for one that hangs. After five minutes the preferred upstream is tried again, which costs one wait
 * if it still hangs; then after ten, and so on.
 */
import { hasPassed } from '../platform/clock.ts';
import { writeLimitedLog } from '../platform/log.ts';
import { type Upstream, UpstreamFailure } from './upstream.ts';

/**
 * Returns the first answer that is not undefined; undefined if no upstream has the thing. If none
 * has it and at least one failed, the last failure is thrown: that upstream might have had it. An
 * upstream that answers after an earlier one failed is queried first from then on.
 */
export async function askInTurn<T>(
  upstreams: readonly Upstream[],
  ask: (upstream: Upstream) => Promise<T | undefined>,
  ranking: Ranking = createRanking(Date.now),
): Promise<T | undefined> {
  let failure: UpstreamFailure | undefined;
  for (const place of ranking.order(upstreams.length)) {
    try {
      const answer = await ask(upstreams[place]!);
      if (failure !== undefined) ranking.beginWith(place);
      if (answer !== undefined) {
        if (failure !== undefined) logUnseenFailure(failure);
        return answer;
      }
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      if (failure !== undefined) logUnseenFailure(failure);
      failure = error;
    }
  }
  if (failure !== undefined) throw failure;
  return undefined;
}

/** Logs a failure that no caller sees, because another upstream was queried after it. */
function logUnseenFailure({ message }: UpstreamFailure): void {
  writeLimitedLog('warn', 'upstream.failed', { detail: message });
}

/** Milliseconds until the preferred upstream comes first again, and most if it fails each time. */
const RETURN_MS = 300_000;
const MAX_RETURN_MS = 16 * RETURN_MS;

export interface Ranking {
  /** The upstreams by their places in the list, in the order in which to ask them. */
  order(count: number): number[];
  /** Asks the upstream at this place first from now on. */
  beginWith(place: number): void;
}

/** @param clock Unix milliseconds */
export function createRanking(clock: () => number): Ranking {
  let first = 0;
  let since = Number.NEGATIVE_INFINITY;
  let returnedAt = Number.NEGATIVE_INFINITY;
  let pause = RETURN_MS;
  return {
    order(count) {
      const isOver = first !== 0 && hasPassed(pause, since, clock());
      if (isOver) [first, returnedAt] = [0, clock()];
      const places = Array.from({ length: count }, (_, place) => place);
      return places.sort((a, b) => Number(b === first) - Number(a === first));
    },
    beginWith(place) {
      if (place === first) return;
      const isSoon = !hasPassed(RETURN_MS, returnedAt, clock());
      if (first === 0) pause = isSoon ? Math.min(2 * pause, MAX_RETURN_MS) : RETURN_MS;
      returnedAt = Number.NEGATIVE_INFINITY;
      first = place;
      since = clock();
    },
  };
}
