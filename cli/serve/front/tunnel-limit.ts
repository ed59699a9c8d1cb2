/**
 * How many WebSockets there may be. workerd has two file descriptors for each, and keeps them for
 * some seconds after the client has gone; where it has none left, it answers 500.
 *
 * A client may have as many as are left for all others, so that there is always one for a client
 * that has none.
 */

/** Until workerd has closed a WebSocket: the broker waits 10 s for CONNECT. */
const LINGER_MS = 15_000;

export interface TunnelLimit {
  /** Whether the client may have one more; if so, it is counted. */
  open(client: string): boolean;
  /** @param isUsed whether workerd had it, and keeps it for a while */
  close(client: string, isUsed: boolean): void;
  /** To be called often. */
  look(now: number): void;
}

/** @param clock milliseconds, which never go back */
export function createTunnelLimit(max: number, clock: () => number): TunnelLimit {
  const counts = new Map<string, number>();
  let total = 0;
  /** In this order. */
  const closed = new Set<{ client: string; at: number }>();

  function add(client: string, change: 1 | -1): void {
    total += change;
    const count = (counts.get(client) ?? 0) + change;
    if (count === 0) counts.delete(client);
    else counts.set(client, count);
  }

  return {
    open(client) {
      if ((counts.get(client) ?? 0) >= max - total) return false;
      add(client, 1);
      return true;
    },
    close(client, isUsed) {
      if (isUsed) closed.add({ client, at: clock() });
      else add(client, -1);
    },
    look(now) {
      for (const each of closed) {
        if (now - each.at < LINGER_MS) return;
        closed.delete(each);
        add(each.client, -1);
      }
    },
  };
}
