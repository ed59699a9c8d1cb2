/**
 * `wrangler dev` as a child.
 */

import { type Child, startChild } from './child.ts';
import { WRANGLER } from './run-wrangler.ts';

export interface WranglerDev extends Child {
  /** Where it listens; rejects when it ends before. */
  ready: Promise<URL>;
}

export function startWranglerDev(args: readonly string[]): WranglerDev {
  // without a terminal session of its own, which would want the keyboard, and without asking Cloudflare where we are
  const options = ['dev', '--show-interactive-dev-session=false', ...args];
  const child = startChild(WRANGLER, options, { CLOUDFLARE_CF_FETCH_ENABLED: 'false' });
  const ready = new Promise<URL>((resolve, reject) => {
    child.onMessage((message) => {
      const url = readyUrl(message);
      if (url !== undefined) resolve(url);
    });
    void child.ended.then((code) => reject(new Error(`wrangler dev ended with code ${code}`)));
  });
  return { ...child, ready };
}

/** Wrangler tells its parent where it listens. */
function readyUrl(message: unknown): URL | undefined {
  if (typeof message !== 'string') return undefined;
  const { event, ip, port } = JSON.parse(message) as { event?: string; ip?: string; port?: number };
  return event === 'DEV_SERVER_READY' ? new URL(`http://${ip}:${port}`) : undefined;
}
