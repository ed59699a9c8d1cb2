/**
 * A mutex and single-flight, within one Durable Object.
 *
 * Two tasks that both read the unreferenced blocks and then write them would fail each other's
 * fences: the slower one loses its work, repeatedly. Fences keep the ledger right all the same,
 * also against another object during a deployment.
 */

/** Runs a task once all tasks before it have settled, and settles as the task does. */
export type Mutex = <T>(task: () => Promise<T>) => Promise<T>;

export function createMutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const mine = last.then(task, task);
    last = mine.catch(() => undefined);
    return mine;
  };
}

/**
 * Single-flight: a caller that comes while the task runs shares one more run with all others that
 * come meanwhile, so that the run sees what was there when they called.
 */
export function singleFlight<T>(task: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const run = (): Promise<T> => {
    const mine = task().finally(() => {
      if (running === mine) running = undefined;
    });
    running = mine;
    return mine;
  };
  return () => {
    if (running === undefined) return run();
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return run();
      });
    return next;
  };
}
