/**
 * Whose request is passed on next: requests of the white flag first, then clients in turn, each with
 * its oldest request. workerd has one thread, so few requests at once are as fast as many, and one
 * that comes later waits for these few only. While workerd is away, all wait.
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
  waiting: ReturnType<typeof createTurns>;
}

/**
 * @param clock milliseconds, which never go back
 * @param isOpen whether requests can be passed on
 */
export function createFairQueue(clock: () => number, isOpen: () => boolean): FairQueue {
  const whiteFlags: Lane = { running: new Map(), waiting: createTurns() };
  const others: Lane = { running: new Map(), waiting: createTurns() };
  const laneOf = ({ isWhiteFlag }: Queued) => (isWhiteFlag ? whiteFlags : others);

  function hasPlace(lane: Lane): boolean {
    if (!isOpen()) return false;
    if (lane === whiteFlags) return lane.running.size < MAX_WHITE_FLAGS;
    return lane.running.size < (whiteFlags.running.size > 0 ? MAX_BESIDE_WHITE_FLAG : MAX_AT_ONCE);
  }

  function start(lane: Lane, request: Queued): void {
    lane.running.set(request, clock());
    request.start();
  }

  function startWaiting(lane: Lane): void {
    while (!lane.waiting.isEmpty() && hasPlace(lane)) start(lane, lane.waiting.take()!);
  }

  return {
    enter(request) {
      const lane = laneOf(request);
      if (lane.waiting.isEmpty() && hasPlace(lane)) start(lane, request);
      else lane.waiting.add(request);
    },
    leave(request) {
      const lane = laneOf(request);
      if (!lane.running.delete(request)) {
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
          lane.running.delete(request);
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
    take(): Queued | undefined {
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
