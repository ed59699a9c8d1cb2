/**
 * A limit on work that requests cause in one Durable Object. Clients take turns and have a share
 * each, so a stranger delays the others by one turn, however much he requests. Strangers may be
 * many: some places are left for clients whose work was of use before.
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
  /** Work under way at once: of one site, of all whose work was not of use, in all. */
  ofClient: number;
  ofStrangers: number;
  places: number;
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
  { ofClient, ofStrangers, places, waiting: maxWaiting, maxWaitMs, refuse }: FairLimitOptions,
  isOfUse: (result: T) => boolean,
): FairLimit<T> {
  const turns = createTurns<Waiting>();
  const waiting = new Set<Waiting>();
  const counts = new Map<string, number>();
  const known = createBoundedMap<true>(MAX_KNOWN);
  let underWay = 0;

  const isKnown = (site: string) => known.peek(site) !== undefined;

  function mayStart(site: string): boolean {
    return (counts.get(site) ?? 0) < ofClient && (isKnown(site) || underWay < ofStrangers);
  }

  function startWaiting(): void {
    while (underWay < places) {
      const next = turns.take((site) => isKnown(site) && mayStart(site)) ?? turns.take(mayStart);
      if (next === undefined) return;
      waiting.delete(next);
      next.start();
    }
  }

  function count(site: string, change: 1 | -1): void {
    underWay += change;
    const own = (counts.get(site) ?? 0) + change;
    if (own > 0) counts.set(site, own);
    else counts.delete(site);
  }

  return async (address, work) => {
    const client = clientPath(address);
    const [site] = client;
    const { promise: turn, resolve, reject } = Promise.withResolvers<void>();
    const start = () => {
      count(site, 1);
      resolve();
    };
    const own: Waiting = { client, start, refuse: () => reject(refuse()) };
    waiting.add(own);
    turns.add(own);
    startWaiting();
    if (waiting.size > maxWaiting) {
      // before a known one, the youngest of a crowd
      const holdsOf = ({ client: [site] }: Waiting) => (isKnown(site) ? 0.5 : 1);
      const newest = largestHolder(waiting, holdsOf).at(-1)!;
      waiting.delete(newest);
      turns.remove(newest);
      newest.refuse();
    }
    const giveUp = () => {
      // it may have got its turn since the time was over
      if (!waiting.delete(own)) return;
      turns.remove(own);
      throw refuse();
    };
    await within(maxWaitMs, turn, giveUp);
    try {
      const result = await work(isKnown(site) ? 'known' : 'stranger');
      if (isOfUse(result)) known.set(site, true);
      return result;
    } finally {
      count(site, -1);
      startWaiting();
    }
  };
}
