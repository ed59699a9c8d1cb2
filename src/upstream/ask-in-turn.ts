/**
 * Asking several upstreams one after the other, and which to begin with.
 */
import { type Upstream, UpstreamFailure } from './upstream.ts';

/** Milliseconds after which the preferred upstream comes first again. */
const RETURN = 300_000;

/**
 * Which of several upstreams to begin with: one that was found to be good where those before it were not, so that not every question waits again for one that
 * hangs. Now and then it is the preferred one again, which costs one wait if it still hangs.
 */
export interface Ranking {
  /** Upstreams by their places in the list, in the order in which to ask them. */
  order(count: number): number[];
  beginWith(place: number): void;
}

export function createRanking(clock: () => number): Ranking {
  let first = 0;
  let until = Number.NEGATIVE_INFINITY;
  return {
    order(count) {
      if (clock() >= until) first = 0;
      const places = Array.from({ length: count }, (_, place) => place);
      return places.sort((a, b) => Number(b === first) - Number(a === first));
    },
    beginWith(place) {
      if (place === first) return;
      first = place;
      until = clock() + RETURN;
    },
  };
}

/**
 * Asks one upstream after the other until one has it. Undefined when all say that they have not; throws the last failure when none has it and one failed,
 * for that one might.
 */
export async function askInTurn<T>(
  upstreams: readonly Upstream[],
  ask: (upstream: Upstream) => Promise<T | undefined>,
  ranking: Ranking = createRanking(Date.now),
): Promise<T | undefined> {
  let failure: unknown;
  for (const place of ranking.order(upstreams.length)) {
    try {
      const answer = await ask(upstreams[place]!);
      if (failure !== undefined) ranking.beginWith(place);
      if (answer !== undefined) return answer;
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      failure = error;
    }
  }
  if (failure !== undefined) throw failure;
  return undefined;
}
