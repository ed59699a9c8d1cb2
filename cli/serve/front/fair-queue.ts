/**
 * Whose request is passed on next: requests of the white flag first, then clients in turn, each with
 * its oldest request. workerd has one thread, so few requests at once are as fast as many, and one
 * that comes later waits for these few only. While workerd is away, all wait.
 *
 * A client may have as many places as are left for all others, so that a place is free for a client
 * that has none: a coordinator does not wait for a stranger whose proposals wait for a milestone.
 */

/** Enough to keep workerd busy; a request of the white flag waits for no more than these. */
const MAX_AT_ONCE = 32;

/** While a request of the white flag is under way. */
const MAX_BESIDE_WHITE_FLAG = 4;

/** More than coordinator and quorum send at once. */
const MAX_WHITE_FLAGS = 8;

/** A request without an answer for so long waits for an upstream, and takes no place any more. */
const LEASE_MS = 250;

/** Whoever has one request at a time. Neither field changes from `enter` to `leave`. */
export interface Queued {
  readonly client: string;
  readonly isWhiteFlag: boolean;
  start(): void;
}

export interface FairQueue {
  /** Calls `start`, at once or when it is this request's turn. */
  enter(request: Queued): void;
  /** Ends the wait, or frees the place. May be called again. */
  leave(request: Queued): void;
  /** Starts what may start, and looks for leases that have ended: to be called often. */
  look(): void;
}

interface Lane {
  /** When each was started, in this order. */
  running: Map<Queued, number>;
  /** How many of these each client has. */
  counts: Map<string, number>;
  waiting: ReturnType<typeof createTurns>;
}

const createLane = (): Lane => ({ running: new Map(), counts: new Map(), waiting: createTurns() });

/**
 * @param clock milliseconds, which never go back
 * @param isOpen whether requests can be passed on
 */
export function createFairQueue(clock: () => number, isOpen: () => boolean): FairQueue {
  const whiteFlags = createLane();
  const others = createLane();
  const laneOf = ({ isWhiteFlag }: Queued) => (isWhiteFlag ? whiteFlags : others);

  function freePlaces(lane: Lane): number {
    if (!isOpen()) return 0;
    if (lane === whiteFlags) return MAX_WHITE_FLAGS - lane.running.size;
    const places = whiteFlags.running.size > 0 ? MAX_BESIDE_WHITE_FLAG : MAX_AT_ONCE;
    return places - lane.running.size;
  }

  function start(lane: Lane, request: Queued): void {
    lane.running.set(request, clock());
    lane.counts.set(request.client, (lane.counts.get(request.client) ?? 0) + 1);
    request.start();
  }

  /** Whether the request had a place. */
  function stop({ running, counts }: Lane, request: Queued): boolean {
    if (!running.delete(request)) return false;
    const left = counts.get(request.client)! - 1;
    if (left > 0) counts.set(request.client, left);
    else counts.delete(request.client);
    return true;
  }

  function startWaiting(lane: Lane): void {
    for (let free = freePlaces(lane); free > 0; free = freePlaces(lane)) {
      const request = lane.waiting.take((client) => (lane.counts.get(client) ?? 0) < free);
      if (request === undefined) return;
      start(lane, request);
    }
  }

  return {
    enter(request) {
      const lane = laneOf(request);
      lane.waiting.add(request);
      startWaiting(lane);
    },
    leave(request) {
      const lane = laneOf(request);
      if (!stop(lane, request)) {
        lane.waiting.remove(request);
        return;
      }
      startWaiting(whiteFlags);
      startWaiting(others);
    },
    look() {
      const now = clock();
      for (const lane of [whiteFlags, others]) {
        if (lane.waiting.isEmpty()) continue;
        for (const [request, startedAt] of lane.running) {
          if (now - startedAt < LEASE_MS) break;
          stop(lane, request);
        }
      }
      startWaiting(whiteFlags);
      startWaiting(others);
    },
  };
}

/** Requests that wait; clients take turns. */
function createTurns() {
  /** Whose turn it is, first. */
  const clients = new Map<string, Set<Queued>>();
  return {
    isEmpty: () => clients.size === 0,
    add(request: Queued): void {
      const own = clients.get(request.client);
      if (own === undefined) clients.set(request.client, new Set([request]));
      else own.add(request);
    },
    remove(request: Queued): void {
      const own = clients.get(request.client);
      if (own?.delete(request) && own.size === 0) clients.delete(request.client);
    },
    /** The oldest request of the first client that may start one. */
    take(mayStart: (client: string) => boolean): Queued | undefined {
      for (const [client, own] of clients) {
        if (!mayStart(client)) continue;
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
