/**
 * `npm run serve`: the built Worker on this machine, as it runs on Cloudflare
 * (docs/operations.md#without-cloudflare).
 *
 * Three processes. This one checks settings, address and data folder, locks the folder, restarts
 * the host if it dies, and has the front, to which clients connect (serve/front/front.ts). The host
 * (serve/host.ts) runs miniflare, which restarts workerd if that dies. If one of them is killed,
 * those below it end too.
 */

import { BlockList, isIP } from 'node:net';
import { extname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { findFinalNetwork } from './lib/network.ts';
import { type Child, type ChildOptions, startChild } from './lib/process/child.ts';
import {
  addOptions,
  exitWith,
  type NetworkOptions,
  networkOptions,
  newCommand,
  persistToOption,
  resolveSigners,
} from './lib/process/command.ts';
import { UsageError } from './lib/process/command-line.ts';
import { whenDismissed } from './lib/process/when-dismissed.ts';
import { findUnmatched, readRoutePaths } from './lib/unmatched-patterns.ts';
import { builtWorker, staticFilesOf } from './lib/wrangler/build-worker.ts';
import { openLocalDatabase } from './lib/wrangler/local-database.ts';
import { readVars } from './lib/wrangler/read-vars.ts';
import { readWranglerConfig } from './lib/wrangler/wrangler-config.ts';
import { checkAddress, noteStart } from './serve/check-start.ts';
import { limitConnections } from './serve/file-limit.ts';
import { type Front, openFront } from './serve/front/front.ts';
import { clearCache, holdFolder, requireSpace } from './serve/hold-folder.ts';
import type { HostOptions } from './serve/host.ts';
import { openServiceManager } from './serve/notify-systemd.ts';

const ABOUT = `Runs the built Worker on this machine, without Cloudflare. Import a snapshot first.

To follow a network it needs the URL of a HORNET node, in the environment variable UPSTREAM_URL,
and who signs milestones: --network, --keys and --threshold, or the variables MILESTONE_PUBLIC_KEYS
and MILESTONE_THRESHOLD. All settings are variables. One that the environment does not have is
taken from .dev.vars, else from [vars] of wrangler.toml (docs/operations.md#settings).`;

const HOST = join(import.meta.dirname, 'serve', `host${extname(import.meta.filename)}`);

/**
 * The host loads miniflare once and then does little. With a small young generation, and glibc
 * giving back what it freed, it takes 125 MB instead of 210 MB.
 */
const SMALL: ChildOptions = {
  env: { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' },
  nodeFlags: ['--max-semi-space-size=1', '--optimize-for-size'],
};

/** Before a host that died is started again. */
const RESTART_AFTER_MS = 1000;

interface Options extends NetworkOptions {
  host: string;
  port: string;
  proxy: string;
  persistTo: string;
}

export const serveCommand = (): Command =>
  addOptions(
    newCommand('serve', ABOUT)
      .option('--host <ADDRESS>', 'where to listen: by default this machine only', '127.0.0.1')
      .option('--port <N>', '0: any that is free', '8787')
      .option(
        '--proxy <RANGES>',
        'reverse proxies whose X-Forwarded-For is believed, addresses or ranges such as ' +
          "10.0.0.0/8, separated by commas; this machine's always are",
        '',
      ),
    [persistToOption('where the databases are; one serve for each folder'), ...networkOptions()],
  ).action(exitWith(serve));

async function serve(options: Options): Promise<number> {
  const { host } = options;
  const port = parsePort(options.port);
  const proxies = parseProxies(options.proxy);
  // the host (serve/host.ts) reads its settings from the environment, too
  Object.assign(process.env, settingsOf(options));
  const { maxConnections, note } = limitConnections();
  const persistTo = resolve(options.persistTo);
  const config = readWranglerConfig();
  const vars = readVars(config, process.env);
  using _held = holdFolder(persistTo);
  clearCache(persistTo);
  requireSpace(persistTo);
  await checkAddress(host, port);
  const folder = await builtWorker();
  const paths = readRoutePaths(join(staticFilesOf(folder), 'openapi.json'));
  for (const sentence of findUnmatched(vars, paths)) console.warn(sentence);
  if (note !== undefined) console.warn(note);
  const db = await openLocalDatabase(persistTo, config);
  try {
    for (const note of await noteStart(db, persistTo, vars, process.env)) console.warn(note);
  } finally {
    db.close();
  }
  const front = await openFront({ host, port, maxConnections, proxies });
  try {
    return await keepRunning({ folder, persistTo }, front);
  } finally {
    front.close();
  }
}

/** What options say, as settings. */
function settingsOf(options: NetworkOptions): Record<string, string> {
  const final = findFinalNetwork(options.network);
  const ended = final === undefined ? {} : { FINAL_MILESTONE: String(final.milestone) };
  return { ...resolveSigners(options), ...ended };
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new UsageError(`--port must be a number from 0 to 65535, not ${text}`);
  return port;
}

function parseProxies(text: string): BlockList {
  const proxies = new BlockList();
  const ranges = [
    '127.0.0.0/8',
    '::1/128',
    ...text.split(',').filter((each) => each.trim() !== ''),
  ];
  for (const range of ranges) {
    const [address = '', bits] = range.trim().split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    try {
      proxies.addSubnet(address, bits === undefined ? maxBits(family) : Number(bits), family);
    } catch {
      throw new UsageError(
        `--proxy must name addresses or ranges such as 10.0.0.0/8, not ${range}`,
      );
    }
  }
  return proxies;
}

const maxBits = (family: 'ipv4' | 'ipv6') => (family === 'ipv6' ? 128 : 32);

/** Runs the host until this process is told to end; its exit code. */
async function keepRunning(options: HostOptions, front: Front): Promise<number> {
  let child: Child | undefined;
  let dismissed = false;
  whenDismissed(() => {
    dismissed = true;
    void child?.stop();
  });
  const manager = openServiceManager(process.env);
  while (!dismissed) {
    child = startChild(HOST, [JSON.stringify(options)], SMALL);
    let listening = false;
    child.onMessage((message) => {
      const { url } = message as { url: string };
      front.passTo(new URL(url));
      if (listening) return;
      listening = true;
      console.log(`Serving ${options.persistTo} at ${front.url.href}`);
      manager.listening(front.url.href);
    });
    const code = await child.ended;
    front.passTo(undefined);
    await child.stop();
    if (dismissed) return 0;
    // the host has printed why
    if (!listening) return 1;
    console.error(`The process that runs the Worker ended (${code}); it is started again`);
    await sleep(RESTART_AFTER_MS);
  }
  return 0;
}
