/**
 * How many WebSockets there may be. workerd has two file descriptors and some 70 KB for each, and keeps
 * them for some seconds after the client has gone; where it has none left, it answers 500.
 *
 * Nobody has a fixed share. Where there are too many, the site that has most loses some, so there is
 * always one for a client that has fewer.
 */
import type { ClientPath } from '../../../src/platform/client-path.ts';

/** Until workerd has closed a WebSocket: the broker waits 10 s for CONNECT. */
const LINGER_MS = 15_000;

/** 250 MB: each takes some 75 KB in workerd, outside of V8, and 25 KB in the front. */
const MAX_TUNNELS = 2500;

/** From here on the next one displaces one, which lingers meanwhile. */
const SOFT = 0.8;

/** Beyond all, for the first one of each client: others cannot fill that by displacing. */
const HARD = 1.25;

export type TunnelLimit = ReturnType<typeof createTunnelLimit>;

/**
 * @param clock milliseconds, which never go back
 * @param evict closes some WebSockets of the site, where there may be so many: false if none is open
 */
export function createTunnelLimit(
  maxConnections: number,
  clock: () => number,
  evict: (site: string, max: number) => boolean,
) {
  const max = Math.min(maxConnections, MAX_TUNNELS);
  /** Of each site, with those that linger. */
  const counts = new Map<string, number>();
  /** When each was closed, in this order. */
  const closed = new Set<{ site: string; at: number }>();
  let total = 0;

  function add(site: string, change: 1 | -1): void {
    const count = (counts.get(site) ?? 0) + change;
    total += change;
    if (count === 0) counts.delete(site);
    else counts.set(site, count);
  }

  /** Whether one was closed for a site that has so many. */
  function displace(own: number): boolean {
    let [largest, most] = ['', 0];
    // of equal ones the youngest, or a crowd would close those that are here for long
    for (const [each, count] of counts) if (count >= most) [largest, most] = [each, count];
    // who has none displaces one also where each has one
    return (own === 0 || own + 1 < most) && evict(largest, max);
  }

  return {
    /** Whether the client may have one more; if so, it is counted. */
    open([site]: ClientPath): boolean {
      const own = counts.get(site) ?? 0;
      if (total >= Math.floor(max * (own === 0 ? HARD : 1))) return false;
      if (total >= Math.floor(max * SOFT) && !displace(own)) return false;
      add(site, 1);
      return true;
    },
    close([site]: ClientPath): void {
      closed.add({ site, at: clock() });
    },
    /** To be called often. */
    look(now: number): void {
      for (const each of closed) {
        if (now - each.at < LINGER_MS) return;
        closed.delete(each);
        add(each.site, -1);
      }
    },
  };
}
