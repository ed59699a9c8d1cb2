/**
 * WebSockets whose client has gone and that workerd has not closed yet: nothing that the front closes
 * would free their memory. So who opens and leaves them waits for workerd, and nobody else does.
 */
import type { ClientPath } from '../../../src/platform/client-path.ts';

/** 28 MB in workerd. */
const MAX_CLOSING = 256;

export type ClosingTunnels = ReturnType<typeof createClosingTunnels>;

export function createClosingTunnels() {
  /** One for each WebSocket. */
  const sites: string[] = [];
  return {
    mayOpen: ([site]: ClientPath) => sites.length < MAX_CLOSING || !sites.includes(site),
    add: ([site]: ClientPath) => void sites.push(site),
    remove: ([site]: ClientPath) => void sites.splice(sites.indexOf(site), 1),
  };
}
