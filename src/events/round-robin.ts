/**
 * Whose turn it is: addresses take turns, and so do the clients of an address. So a thousand
 * clients of one address delay those of another one by one turn.
 */
export interface RoundRobin<T> {
  /** Does nothing where it waits already. */
  add(client: T): void;
  /** Who comes next, and waits no more; undefined where nobody waits. */
  take(): T | undefined;
}

export function createRoundRobin<T extends { address: string }>(): RoundRobin<T> {
  const waiting = new Map<string, Set<T>>();
  return {
    add(client) {
      const own = waiting.get(client.address);
      if (own === undefined) waiting.set(client.address, new Set([client]));
      else own.add(client);
    },
    take() {
      for (const [address, own] of waiting) {
        const [next] = own;
        own.delete(next!);
        waiting.delete(address);
        // behind all other addresses
        if (own.size > 0) waiting.set(address, own);
        return next;
      }
      return undefined;
    },
  };
}
