/**
 * Serves a data folder. Three processes: this one checks settings, address and data folder, locks the
 * folder, restarts the host if it dies or workerd hangs, and has the front, to which clients connect
 * (front/front.ts). The host (host.ts) runs miniflare, which restarts workerd if that dies. If one
 * of them is killed, those below it end too.
 */
import { chmodSync, cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkAddress, checkClock, requireSpace } from '../lib/process/check-machine.ts';
import type { Child } from '../lib/process/child.ts';
import { SettingsError } from '../lib/process/command-line.ts';
import { keepCode } from '../lib/process/compile-cache.ts';
import { tellSystemd } from '../lib/process/notify-systemd.ts';
import { whenDismissed } from '../lib/process/when-dismissed.ts';
import {
  ACCESS_SETTINGS,
  findMisspelt,
  findUnmatched,
  readRoutePaths,
} from '../lib/unmatched-patterns.ts';
import { builtWorker, staticFilesOf } from '../lib/wrangler/build-worker.ts';
import { holdFolder } from '../lib/wrangler/hold-folder.ts';
import { openLocalDatabase, persistPath } from '../lib/wrangler/local-database.ts';
import { readVars } from '../lib/wrangler/read-vars.ts';
import { readWranglerConfig } from '../lib/wrangler/wrangler-config.ts';
import { noteStart } from './check-start.ts';
import { limitConnections } from './file-limit.ts';
import { type Front, type FrontOptions, openFront } from './front/front.ts';
import type { HostOptions } from './host.ts';
import { startHost } from './start-host.ts';
import { watchHealth } from './watch-health.ts';

export interface ServeOptions extends Omit<FrontOptions, 'maxConnections' | 'clock'> {
  persistTo: string;
  /** What `--network` names, of which the ledger must be. */
  network: string | undefined;
}

/** In the data folder. It is removed at each start, so nothing of an operator's may have the name. */
const WORKER_FOLDER = 'serve.worker';

/** Between two starts of the host; doubled with each that does not come to listen. */
const RESTART_EVERY_MS = 1000;
const MAX_RESTART_EVERY_MS = 16 * RESTART_EVERY_MS;

/**
 * Serves until this process is told to end; its exit code. Throws an Error with a sentence if it
 * cannot.
 *
 * @param first the host, which was started and waits for its options
 */
export async function serveFolder(options: ServeOptions, first: Child): Promise<number> {
  const { host, port, proxies, persistTo, network } = options;
  const { maxConnections, note } = limitConnections();
  const config = readWranglerConfig();
  checkClock(config);
  const vars = readVars(config, process.env);
  using _held = holdFolder(persistTo);
  // of miniflare's Cache API, which `wrangler dev` uses: it has a file for each answer and evicts none
  rmSync(join(persistPath(persistTo), 'cache'), { recursive: true, force: true });
  requireSpace(persistTo);
  await checkAddress(host, port);
  // its own, as a later build removes the one before; the next start must be able to remove it
  const folder = join(persistTo, WORKER_FOLDER);
  rmSync(folder, { recursive: true, force: true });
  cpSync(await builtWorker(), folder, { recursive: true });
  for (const name of ['.', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })])
    chmodSync(join(folder, name), 0o700);
  const paths = readRoutePaths(join(staticFilesOf(folder), 'openapi.json'));
  const names = new Set([...Object.keys(vars), ...Object.keys(process.env)]);
  const unmatched = (name: string) => findUnmatched(vars, paths, [name]);
  const wrong = [...unmatched('PROTECTED_ROUTES'), ...findMisspelt(names, ACCESS_SETTINGS)];
  if (wrong.length > 0) throw new SettingsError(wrong.join('\n'));
  // one that opens nothing: HORNET's own default names plug-ins that are no routes here
  const closed = unmatched('PUBLIC_ROUTES');
  const notes = [...closed, ...findMisspelt(names), ...(note ? [note] : [])];
  for (const sentence of notes) console.warn(sentence);
  const db = await openLocalDatabase(persistTo, config);
  try {
    for (const note of await noteStart(db, persistTo, vars, network)) console.warn(note);
  } finally {
    db.close();
  }
  const front = await openFront({ host, port, maxConnections, proxies });
  keepCode();
  try {
    return await keepRunning(first, { folder, persistTo }, front);
  } finally {
    front.close();
  }
}

/** Runs the host until this process is told to end; its exit code. */
async function keepRunning(first: Child, options: HostOptions, front: Front): Promise<number> {
  let child = first;
  let pauseMs = RESTART_EVERY_MS;
  const dismissal = new AbortController();
  const { signal } = dismissal;
  whenDismissed(() => {
    if (signal.aborted) return;
    dismissal.abort();
    void front.drain().then(() => child.stop());
  });
  for (;;) {
    const startedAt = performance.now();
    let listening = false;
    let unwatch = () => {};
    const end = () => {
      console.error('The Worker does not answer /health: its process is ended');
      void child.stop();
    };
    child.onMessage((message) => {
      const { url } = message as { url: string };
      front.passTo(new URL(url));
      unwatch();
      unwatch = watchHealth(url, end);
      if (listening) return;
      listening = true;
      console.log(`Serving ${options.persistTo} at ${front.url.href}`);
      if (child === first) tellSystemd(front.url.href, process.env);
    });
    child.send(options);
    const code = await child.ended;
    unwatch();
    front.passTo(undefined);
    await child.stop();
    if (signal.aborted) return 0;
    // the host has printed why; what keeps a later one from it may pass, as a full disk does
    if (!listening && child === first) return 1;
    console.error(`The process that runs the Worker ended (${code}); it is started again`);
    pauseMs = listening ? RESTART_EVERY_MS : Math.min(2 * pauseMs, MAX_RESTART_EVERY_MS);
    const restMs = Math.max(0, startedAt + pauseMs - performance.now());
    await sleep(restMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return 0;
    child = startHost();
  }
}
