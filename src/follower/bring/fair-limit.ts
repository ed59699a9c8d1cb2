/**
 * A limit on work that requests cause in one Durable Object. Clients take turns and have a share
 * each, so a stranger delays the others by one turn, however much he requests. Strangers may be
 * many, and those whose work was of use before too: each of the two has places of its own.
 */
import { createBoundedMap } from '../../platform/bounded-map.ts';
import {
  type ClientPath,
  clientPath,
  createTurns,
  largestHolder,
} from '../../platform/client-path.ts';
import { within } from '../../platform/clock.ts';

export interface FairLimitOptions {
  /** Sites with work under way, one at a time: those whose work was of use, and others. */
  ofKnown: number;
  ofStrangers: number;
  /** Work that waits. Beyond it the client with most of it loses its newest. */
  waiting: number;
  /** Milliseconds after which work that still waits is refused. */
  maxWaitMs: number;
  /** Makes the error of work that is refused. */
  refuse: () => Error;
}

/** Says whether work of the client was of use before. */
export type Whose = 'known' | 'stranger';

/** Does the work when it is the client's turn and there is a place. */
export type FairLimit<T> = (client: string, work: (whose: Whose) => Promise<T>) => Promise<T>;

interface Waiting {
  readonly client: ClientPath;
  start(): void;
  refuse(): void;
}

/** Sites whose work was of use, the most recent ones. */
const MAX_KNOWN = 1000;

/** @param isOfUse whether the work came to what the client asked for */
export function createFairLimit<T>(
  { ofKnown, ofStrangers, waiting: maxWaiting, maxWaitMs, refuse }: FairLimitOptions,
  isOfUse: (result: T) => boolean,
): FairLimit<T> {
  const turns = createTurns<Waiting>();
  const waiting = new Set<Waiting>();
  const busy = new Set<string>();
  const known = createBoundedMap<true>(MAX_KNOWN);
  const free = { known: ofKnown, stranger: ofStrangers };

  const whoseOf = (site: string): Whose => (known.peek(site) ? 'known' : 'stranger');

  const mayStart = (site: string): boolean => !busy.has(site) && free[whoseOf(site)] > 0;

  function startWaiting(): void {
    for (let next = turns.take(mayStart); next !== undefined; next = turns.take(mayStart)) {
      waiting.delete(next);
      next.start();
    }
  }

  return async (address, work) => {
    const client = clientPath(address);
    const [site] = client;
    const { promise: turn, resolve, reject } = Promise.withResolvers<Whose>();
    const start = () => {
      const whose = whoseOf(site);
      free[whose]--;
      busy.add(site);
      resolve(whose);
    };
    const own: Waiting = { client, start, refuse: () => reject(refuse()) };
    waiting.add(own);
    turns.add(own);
    startWaiting();
    if (waiting.size > maxWaiting) {
      // before a known one, the youngest of a crowd
      const holdsOf = ({ client: [site] }: Waiting) => (whoseOf(site) === 'known' ? 0.5 : 1);
      const newest = largestHolder(waiting, holdsOf).at(-1)!;
      waiting.delete(newest);
      turns.remove(newest);
      newest.refuse();
    }
    const giveUp = () => {
      // it may have got its turn since the time was over
      if (!waiting.delete(own)) return turn;
      turns.remove(own);
      throw refuse();
    };
    const whose = await within(maxWaitMs, turn, giveUp);
    try {
      const result = await work(whose);
      if (isOfUse(result)) known.set(site, true);
      return result;
    } finally {
      free[whose]++;
      busy.delete(site);
      startWaiting();
    }
  };
}
