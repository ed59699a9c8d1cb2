/**
 * How much is done at once: by workers that share items, and by a limit, where the other tasks wait
 * in two lines. Those of requests come first, then one of each line in turn: strangers ask without
 * an end, and passes go on.
 */

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
 */
export type ConcurrencyLimit = <T>(
  task: () => Promise<T>,
  signal: AbortSignal,
  urgency?: Urgency,
) => Promise<T>;

/** @param places tasks that may run at once */
export function createConcurrencyLimit(places: number): ConcurrencyLimit {
  let free = places;
  const urgent: (() => void)[] = [];
  const others: (() => void)[] = [];
  let wasUrgent = false;
  const takeNext = () => {
    wasUrgent = urgent.length > 0 && !(wasUrgent && others.length > 0);
    return (wasUrgent ? urgent : others).shift();
  };
  return async (task, signal, urgency) => {
    const line = urgency === 'known' || urgency === 'stranger' ? urgent : others;
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
      // the place goes to the task of a line that has waited longest
      const next = takeNext();
      if (next) next();
      else free++;
    }
  };
}

/**
 * Creates what makes the limits of callees that share places: of each up to `ofEach`, and all but
 * one of strangers. A callee hangs once a task was aborted, until one ends by itself: what hangs has
 * one place of strangers, and all but two of others. So it leaves one to the others, and what hangs
 * for strangers alone leaves one to whoever is known.
 */
export function createSharedLimit(places: number): (ofEach: number) => ConcurrencyLimit {
  const all = createConcurrencyLimit(places);
  const ofStrangers = createConcurrencyLimit(places - 1);
  const hangingOfStrangers = createConcurrencyLimit(1);
  const hangingOfOthers = createConcurrencyLimit(places - 2);
  return (ofEach) => {
    const own = nest(createConcurrencyLimit(ofEach), all);
    let isHanging = false;
    return (task, signal, urgency) => {
      const isStranger = urgency === 'stranger';
      const usual = isStranger ? nest(ofStrangers, own) : own;
      const hanging = nest(isStranger ? hangingOfStrangers : hangingOfOthers, usual);
      const run = () =>
        task().finally(() => {
          isHanging = signal.aborted;
        });
      return (isHanging ? hanging : usual)(run, signal, urgency);
    };
  };
}

/** Creates a limit whose tasks need a place of both, of the second one last. */
const nest =
  (first: ConcurrencyLimit, second: ConcurrencyLimit): ConcurrencyLimit =>
  (task, ...given) =>
    first(() => second(task, ...given), ...given);
