/**
 * A limit on work that requests cause in one Durable Object: the clients take turns, and each has a
 * share. So a stranger delays the others by one turn, however much he asks for.
 */

export interface FairLimitOptions {
  /** How much work is under way at once, of one client and in all. */
  ofClient: number;
  places: number;
  /** How much work waits. Beyond it the client with most of it loses its newest. */
  waiting: number;
  /** What is thrown then. */
  refuse: () => Error;
}

/** Does the work when it is the client's turn and there is a place. */
export type FairLimit = <T>(client: string, work: () => Promise<T>) => Promise<T>;

interface Client {
  underWay: number;
  waiting: { start: () => void; refuse: () => void }[];
}

export function createFairLimit(options: FairLimitOptions): FairLimit {
  /** Those with work, in the order of their turns. */
  const clients = new Map<string, Client>();
  let underWay = 0;
  let waiting = 0;

  function startNext(): void {
    for (const [name, client] of clients) {
      if (underWay >= options.places) return;
      if (client.underWay >= options.ofClient || client.waiting.length === 0) continue;
      waiting--;
      client.waiting.shift()!.start();
      clients.delete(name);
      clients.set(name, client);
    }
  }

  function refuseOne(): void {
    const [largest] = [...clients.values()].sort((a, b) => b.waiting.length - a.waiting.length);
    waiting--;
    largest!.waiting.pop()!.refuse();
  }

  return async (name, work) => {
    const client = clients.get(name) ?? { underWay: 0, waiting: [] };
    clients.set(name, client);
    const { promise: turn, resolve, reject } = Promise.withResolvers<void>();
    const start = () => {
      underWay++;
      client.underWay++;
      resolve();
    };
    client.waiting.push({ start, refuse: () => reject(options.refuse()) });
    waiting++;
    startNext();
    if (waiting > options.waiting) refuseOne();
    let isOn = false;
    try {
      await turn;
      isOn = true;
      return await work();
    } finally {
      if (isOn) {
        underWay--;
        client.underWay--;
      }
      if (client.underWay === 0 && client.waiting.length === 0) clients.delete(name);
      startNext();
    }
  };
}
