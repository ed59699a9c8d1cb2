/**
 * WebSockets whose client has gone and that workerd has not closed yet: nothing that the front closes
 * would free their memory. So who opens and leaves them waits for workerd, and nobody else does.
 */
import type { ClientPath } from '../../../src/platform/client-path.ts';

/** 28 MB in workerd. */
const MAX_CLOSING = 256;

export type ClosingTunnels = ReturnType<typeof createClosingTunnels>;

export function createClosingTunnels() {
  /** Of each site. */
  const counts = new Map<string, number>();
  let total = 0;
  return {
    mayOpen: ([site]: ClientPath) => total < MAX_CLOSING || !counts.has(site),
    add([site]: ClientPath, change: 1 | -1): void {
      total += change;
      const count = (counts.get(site) ?? 0) + change;
      if (count === 0) counts.delete(site);
      else counts.set(site, count);
    },
  };
}
