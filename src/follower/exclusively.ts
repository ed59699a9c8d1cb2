/**
 * One work at a time: what reads the open blocks, thinks, and writes them. Otherwise of two passes
 * at once the slower loses all that it did, again and again. Fences keep the ledger right all the
 * same, against another Durable Object during a deployment too.
 */

export type Exclusively = <T>(work: () => Promise<T>) => Promise<T>;

/** Works wait for those begun before them, whether these succeed or fail. */
export function createExclusively(): Exclusively {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work, work);
    last = mine.catch(() => undefined);
    return mine;
  };
}

/**
 * The work for all who ask for it: whoever asks while it runs waits for one more run, which all of
 * them share, so that it has seen what was there when they asked.
 */
export function createShared<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const run = (): Promise<T> => {
    const mine = work().finally(() => {
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
