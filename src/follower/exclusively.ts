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
