/**
 * Order in which to query upstreams. One that was good where the ones before it were not comes
 * first from then on, so that not every query waits for one that hangs. Every five minutes the
 * preferred upstream is tried again, which costs one wait if it still hangs.
 */
import { hasPassed } from '../platform/clock.ts';

/** Milliseconds after which the preferred upstream comes first again. */
const RETURN_MS = 300_000;

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
  return {
    order(count) {
      if (hasPassed(RETURN_MS, since, clock())) first = 0;
      const places = Array.from({ length: count }, (_, place) => place);
      return places.sort((a, b) => Number(b === first) - Number(a === first));
    },
    beginWith(place) {
      if (place === first) return;
      first = place;
      since = clock();
    },
  };
}
