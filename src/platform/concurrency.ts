/**
 * How much is done at once: by workers that share items, and by a limit, where the other tasks wait
 * in two lines. Urgent ones come first, then one of each line in turn: strangers' requests are
 * urgent, and passes go on.
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

/**
 * Runs a task once there is a place, and settles as it does. A task that still waits when the signal
 * aborts is not begun. `first`: of those not urgent.
 */
export type ConcurrencyLimit = <T>(
  task: () => Promise<T>,
  signal: AbortSignal,
  urgency?: 'urgent' | 'first',
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
    const line = urgency === 'urgent' ? urgent : others;
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
 * Creates the limit of one callee, where all share places, of which it takes up to `places`. Once a
 * task was aborted, one runs at a time, until one ends by itself: a callee that hangs leaves the
 * other places to the others.
 */
export function limitWithin(all: ConcurrencyLimit, places: number): ConcurrencyLimit {
  const own = createConcurrencyLimit(places);
  const alone = createConcurrencyLimit(1);
  let isHanging = false;
  return (task, signal, urgency) => {
    const run = () =>
      task().finally(() => {
        isHanging = signal.aborted;
      });
    const runAmongAll = () => all(run, signal, urgency);
    const runAmongOwn = () => own(runAmongAll, signal, urgency);
    return isHanging ? alone(runAmongOwn, signal, urgency) : runAmongOwn();
  };
}
