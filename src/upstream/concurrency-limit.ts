/**
 * A gate: so many at once, the others wait in line (a Worker has six connections, platform.md §1).
 */

/** Connections that a Worker has at once. */
export const CONNECTIONS = 6;

export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

export function createConcurrencyLimit(places: number): Gate {
  let free = places;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
