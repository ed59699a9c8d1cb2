/**
 * Whose request is passed on next: requests of the white flag first, then clients in turn, each with
 * its oldest request. workerd has one thread, so few requests at once are as fast as many, and one
 * that comes later waits for these few only.
 */

/** Enough to keep workerd busy; a request of the white flag waits for no more than these. */
const MAX_AT_ONCE = 32;

/** While a request of the white flag is under way. */
const MAX_BESIDE_WHITE_FLAG = 4;

/** More than coordinator and quorum send at once. */
const MAX_WHITE_FLAGS = 8;

/** A request without an answer for so long waits for an upstream, and takes no place any more. */
const LEASE_MS = 250;

interface Waiting {
  client: string;
  isWhiteFlag: boolean;
  start: () => void;
  startedAt: number;
}

/** Ends the wait, or frees the place. May be called again. */
export type Leave = () => void;

export interface FairQueue {
  /** Calls `start`, at once or when it is this request's turn. */
  enter(client: string, isWhiteFlag: boolean, start: () => void): Leave;
  /** Looks for leases that have ended: to be called often. */
  look(): void;
}

/** @param clock milliseconds, which never go back */
export function createFairQueue(clock: () => number): FairQueue {
  const waiting = { first: createTurns(), others: createTurns() };
  const running = { first: new Set<Waiting>(), others: new Set<Waiting>() };
  const laneOf = ({ isWhiteFlag }: Waiting) => (isWhiteFlag ? 'first' : 'others');

  function places(lane: 'first' | 'others'): number {
    if (lane === 'first') return MAX_WHITE_FLAGS;
    return running.first.size > 0 ? MAX_BESIDE_WHITE_FLAG : MAX_AT_ONCE;
  }

  function startWaiting(): void {
    for (const lane of ['first', 'others'] as const) {
      while (running[lane].size < places(lane)) {
        const next = waiting[lane].take();
        if (next === undefined) break;
        next.startedAt = clock();
        running[lane].add(next);
        next.start();
      }
    }
  }

  return {
    enter(client, isWhiteFlag, start) {
      const request: Waiting = { client, isWhiteFlag, start, startedAt: 0 };
      const lane = laneOf(request);
      waiting[lane].add(request);
      startWaiting();
      return () => {
        if (running[lane].delete(request)) startWaiting();
        else waiting[lane].remove(request);
      };
    },
    look() {
      const now = clock();
      for (const lane of ['first', 'others'] as const) {
        if (waiting[lane].isEmpty()) continue;
        // in the order in which they were started
        for (const request of running[lane]) {
          if (now - request.startedAt < LEASE_MS) break;
          running[lane].delete(request);
        }
      }
      startWaiting();
    },
  };
}

/** Requests that wait; clients take turns. */
function createTurns() {
  /** Whose turn it is, first. */
  const clients = new Map<string, Set<Waiting>>();
  return {
    isEmpty: () => clients.size === 0,
    add(request: Waiting): void {
      const own = clients.get(request.client);
      if (own === undefined) clients.set(request.client, new Set([request]));
      else own.add(request);
    },
    remove(request: Waiting): void {
      const own = clients.get(request.client);
      if (own?.delete(request) && own.size === 0) clients.delete(request.client);
    },
    take(): Waiting | undefined {
      for (const [client, own] of clients) {
        const [oldest] = own;
        clients.delete(client);
        own.delete(oldest!);
        if (own.size > 0) clients.set(client, own);
        return oldest;
      }
      return undefined;
    },
  };
}
