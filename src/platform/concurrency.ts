/**
 * How much is done at once: by workers that share items, and by a limit, where other tasks wait in
 * three lines of each callee, which take turns: strangers ask without an end, and others go on.
 */
import { pause } from './clock.ts';

/**
 * Connections that a Worker may have open at once; the platform lets more of them wait
 * (https://developers.cloudflare.com/workers/platform/limits/#simultaneous-open-connections).
 */
export const MAX_CONNECTIONS = 6;

/** Starts workers, each of which takes the next item when it has done one. */
export const startWorkers = <T>(
  items: IterableIterator<T>,
  work: (item: T) => Promise<unknown>,
  count = MAX_CONNECTIONS,
): Promise<void>[] =>
  Array.from({ length: count }, async () => {
    for (const item of items) await work(item);
  });

/** Says whose request waits for a task; absent: none, and `first` comes first of these. */
export type Urgency = 'known' | 'stranger' | 'first';

/**
 * Runs a task once there is a place, and settles as it does. A task that still waits when the signal
 * aborts is not begun.
 *
 * @param isProbe whether it is no proof that other tasks end if this one does
 */
export type ConcurrencyLimit = <T>(
  task: () => Promise<T>,
  signal: AbortSignal,
  urgency?: Urgency,
  isProbe?: boolean,
) => Promise<T>;

/** Milliseconds, so that of tasks that begin together not the same one hangs each time. */
const JITTER_MS = 20;

/**
 * Creates what makes the limits of callees that share places: of each up to `ofEach`, and for
 * strangers one less of each and of all. A task that waits holds none, so a slow callee leaves them
 * to the others. A callee hangs once a task was aborted, until one that is no probe ends by itself.
 * All that hang share one place of whoever is known, one of strangers, and one of the others.
 */
export function createSharedLimit(places: number): (ofEach: number) => ConcurrencyLimit {
  const all = { free: places };
  const ofStrangers = { free: places - 1 };
  const hanging = { known: { free: 1 }, stranger: { free: 1 }, first: { free: 1 } };
  /** Callees, last asked last, with lines of what starts its task if there are places. */
  const callees: { own: { free: number }; turns: (() => boolean)[][] }[] = [];

  /** Starts one of each line at most: no more of it can have waited for what has ended. */
  function startWaiting(): void {
    // with the same number of tasks each, a slow one would hold nearly all places
    for (const callee of callees.toSorted((one, other) => other.own.free - one.own.free))
      for (const line of [...callee.turns]) {
        const place = line.findIndex((start) => start());
        if (place < 0) continue;
        line.splice(place, 1);
        callee.turns.push(...callee.turns.splice(callee.turns.indexOf(line), 1));
        callees.push(...callees.splice(callees.indexOf(callee), 1));
      }
  }

  return (ofEach) => {
    const own = { free: ofEach };
    const ownOfStrangers = { free: ofEach - 1 };
    const lines: Record<Urgency, (() => boolean)[]> = { known: [], stranger: [], first: [] };
    callees.push({ own, turns: Object.values(lines) });
    let isHanging = false;
    return async (task, signal, urgency, isProbe) => {
      const asked = Date.now();
      const kind = urgency ?? 'first';
      const needed = kind === 'stranger' ? [all, own, ofStrangers, ownOfStrangers] : [all, own];
      if (isHanging) {
        needed.push(hanging[kind]);
        await pause(Math.floor(JITTER_MS * Math.random()));
        signal.throwIfAborted();
      }
      const line = lines[kind];
      const { promise: turn, resolve, reject } = Promise.withResolvers<void>();
      const start = () => {
        if (needed.some(({ free }) => free === 0)) return false;
        for (const each of needed) each.free--;
        resolve();
        return true;
      };
      if (!start()) line.splice(urgency === 'first' ? 0 : line.length, 0, start);
      signal.addEventListener('abort', () => {
        if (line.includes(start)) line.splice(line.indexOf(start), 1);
        reject(signal.reason);
      });
      await turn;
      const begun = Date.now();
      try {
        return await task();
      } finally {
        // one that had waited for longer may only have begun too late
        if (signal.aborted) isHanging ||= Date.now() - begun > begun - asked;
        else isHanging &&= isProbe === true;
        for (const each of needed) each.free++;
        startWaiting();
      }
    };
  };
}
