/**
 * How much is done at once: by workers that share items, and by a limit, where the other tasks wait
 * in three lines, of which one after the other has its turn: strangers ask without an end, and
 * whoever is known, and passes, go on.
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

/** @param places tasks that may run at once */
export function createConcurrencyLimit(places: number): ConcurrencyLimit {
  let free = places;
  const lines: Record<Urgency, (() => void)[]> = { known: [], stranger: [], first: [] };
  const turns = Object.values(lines);
  const takeNext = () => {
    const line = turns.find(({ length }) => length > 0);
    if (line !== undefined) turns.push(...turns.splice(turns.indexOf(line), 1));
    return line?.shift();
  };
  return async (task, signal, urgency) => {
    const line = lines[urgency ?? 'first'];
    if (free > 0) free--;
    else
      await new Promise<void>((start, giveUp) => {
        line.splice(urgency === 'first' ? 0 : line.length, 0, start);
        signal.addEventListener('abort', () => {
          if (line.includes(start)) line.splice(line.indexOf(start), 1);
          giveUp(signal.reason);
        });
      });
    try {
      return await task();
    } finally {
      const next = takeNext();
      if (next) next();
      else free++;
    }
  };
}

/** Milliseconds, so that of tasks that begin together not the same one hangs each time. */
const JITTER_MS = 20;

/**
 * Creates what makes the limits of callees that share places: of each up to `ofEach`, and all but
 * one of strangers. A callee hangs once a task was aborted, until one that is no probe ends by itself.
 * All that hang share one place of whoever is known, one of strangers, and one of the others.
 */
export function createSharedLimit(places: number): (ofEach: number) => ConcurrencyLimit {
  const all = createConcurrencyLimit(places);
  const ofStrangers = createConcurrencyLimit(places - 1);
  const alone = () => createConcurrencyLimit(1);
  const hanging = { known: alone(), stranger: alone(), first: alone() };
  return (ofEach) => {
    const own = nest(createConcurrencyLimit(ofEach), all);
    let isHanging = false;
    return async (task, signal, urgency, isProbe) => {
      const usual = urgency === 'stranger' ? nest(ofStrangers, own) : own;
      const asked = Date.now();
      const run = () => {
        const begun = Date.now();
        return task().finally(() => {
          // one that had waited for longer may only have begun too late
          if (signal.aborted) isHanging ||= Date.now() - begun > begun - asked;
          else isHanging &&= isProbe === true;
        });
      };
      if (!isHanging) return usual(run, signal, urgency);
      await pause(Math.floor(JITTER_MS * Math.random()));
      signal.throwIfAborted();
      return nest(hanging[urgency ?? 'first'], usual)(run, signal, urgency);
    };
  };
}

/** Creates a limit whose tasks need a place of both, of the second one last. */
const nest =
  (first: ConcurrencyLimit, second: ConcurrencyLimit): ConcurrencyLimit =>
  (task, ...given) =>
    first(() => second(task, ...given), ...given);
