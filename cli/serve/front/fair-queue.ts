/**
 * Whose request is passed on next: requests of the white flag first, then clients in turn, each with
 * its oldest request. workerd has one thread, so few requests at once are as fast as many, and one
 * that comes later waits for these few only. While workerd is away, all wait.
 *
 * A client may have as many places as are left for all others, so that a place is free for a client
 * that has none: a coordinator does not wait for a stranger whose proposals wait for a milestone.
 */
import { type ClientPath, createTurns } from '../../../src/platform/client-path.ts';

/** Nearly enough to keep workerd busy; a request of the white flag waits for no more than these. */
const MAX_AT_ONCE = 16;

/** While a request of the white flag is under way. */
const MAX_BESIDE_WHITE_FLAG = 2;

/** More than coordinator and quorum send at once. */
const MAX_WHITE_FLAGS = 4;

/**
 * A request without an answer for so long waits for an upstream, or for a place of its kind in workerd
 * (http/access/limits.ts), and takes no place here any more while others wait. Less where more sites
 * wait than there are places, so that a crowd is not waited for.
 */
const LEASE_MS = 150;
const CROWD_LEASE_MS = 5;

/**
 * Requests of each kind that wait without a place. Of these, too, a client has as many as are left.
 * Reads do not fill what proposals need: however many wait, a coordinator does not.
 */
const MAX_AWAY = 256;

/** Whoever has one request at a time. No field changes from `enter` to `leave`. */
export interface Queued {
  client: ClientPath;
  isWhiteFlag: boolean;
  start(): void;
}

export type FairQueue = ReturnType<typeof createFairQueue>;

const createLane = () => ({
  /** When each was started, in this order. */
  running: new Map<Queued, number>(),
  waiting: createTurns<Queued>(),
  /** Those that have lost their places. */
  away: new Set<Queued>(),
});

type Lane = ReturnType<typeof createLane>;

/** Whether a site has fewer of these places than are left for others. */
function mayHaveMore(site: string, taken: Iterable<Queued>, left: number): boolean {
  let own = 0;
  for (const { client } of taken) if (client[0] === site) own += 1;
  return own < left;
}

/**
 * @param clock milliseconds, which never go back
 * @param isOpen whether requests can be passed on
 */
export function createFairQueue(clock: () => number, isOpen: () => boolean) {
  const whiteFlags = createLane();
  const others = createLane();
  const laneOf = ({ isWhiteFlag }: Queued) => (isWhiteFlag ? whiteFlags : others);

  function maxOf(lane: Lane): number {
    if (lane === whiteFlags) return MAX_WHITE_FLAGS;
    return whiteFlags.running.size > 0 ? MAX_BESIDE_WHITE_FLAG : MAX_AT_ONCE;
  }

  const leftOf = (lane: Lane) => (isOpen() ? maxOf(lane) - lane.running.size : 0);

  function startWaiting(lane: Lane): void {
    while (lane.waiting.size > 0 && leftOf(lane) > 0) {
      const mayStart = (site: string) => mayHaveMore(site, lane.running.keys(), leftOf(lane));
      const request = lane.waiting.take(mayStart);
      if (request === undefined) return;
      lane.running.set(request, clock());
      request.start();
    }
  }

  function startAll(): void {
    startWaiting(whiteFlags);
    startWaiting(others);
  }

  function endLeases(lane: Lane, now: number): void {
    const { away } = lane;
    const sites = lane.waiting.size;
    const lease = sites > maxOf(lane) ? CROWD_LEASE_MS : LEASE_MS;
    for (const [request, startedAt] of lane.running) {
      if (sites === 0 || now - startedAt < lease) return;
      if (!mayHaveMore(request.client[0], away, MAX_AWAY - away.size)) continue;
      lane.running.delete(request);
      away.add(request);
    }
  }

  return {
    /** Calls `start`, at once or when it is this request's turn. */
    enter(request: Queued): void {
      const lane = laneOf(request);
      lane.waiting.add(request);
      startWaiting(lane);
    },
    /** Ends the wait, or frees the place. May be called again. */
    leave(request: Queued): void {
      const lane = laneOf(request);
      lane.waiting.remove(request);
      lane.away.delete(request);
      if (lane.running.delete(request)) startAll();
    },
    /** Starts what may start, and looks for leases that have ended: to be called often. */
    look(): void {
      const now = clock();
      endLeases(whiteFlags, now);
      endLeases(others, now);
      startAll();
    },
  };
}
