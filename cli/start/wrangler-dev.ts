/**
 * `wrangler dev` as a child process.
 */
import { type Child, startChild } from '../lib/process/child.ts';
import { WITHIN_PROJECT, WRANGLER } from '../lib/wrangler/run-wrangler.ts';

export interface WranglerDev extends Child {
  /** Where it listens. Rejects if it ends before. */
  ready: Promise<URL>;
}

export function startWranglerDev(args: readonly string[]): WranglerDev {
  // no interactive session, which would read the keyboard, and no request to Cloudflare about the
  // machine's location
  const options = ['dev', '--show-interactive-dev-session=false', ...args];
  const child = startChild(WRANGLER, options, {
    env: { CLOUDFLARE_CF_FETCH_ENABLED: 'false', ...WITHIN_PROJECT },
  });
  const ready = new Promise<URL>((resolve, reject) => {
    child.onMessage((message) => {
      const url = readyUrl(message);
      if (url !== undefined) resolve(url);
    });
    void child.ended.then((code) => reject(new Error(`wrangler dev ended with code ${code}`)));
  });
  return { ...child, ready };
}

/** The URL, if this is the message that wrangler sends to its parent when it listens. */
function readyUrl(message: unknown): URL | undefined {
  if (typeof message !== 'string') return undefined;
  const { event, ip, port } = JSON.parse(message) as { event?: string; ip?: string; port?: number };
  return event === 'DEV_SERVER_READY' ? new URL(`http://${ip}:${port}`) : undefined;
}
