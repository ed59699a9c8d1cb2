/**
 * `npm run serve`: the built Worker on this machine, as it runs on Cloudflare
 * (docs/operations.md#without-cloudflare).
 *
 * Restarts must be short, as coordinators wait. So this file imports little: it starts the host,
 * which loads for long, and then loads what else is needed (serve/serve-folder.ts).
 */

import { BlockList, isIP } from 'node:net';
import type { Command } from 'commander';
import {
  addOptions,
  exitWith,
  filled,
  type NetworkOptions,
  networkOptions,
  networkSettings,
  newCommand,
  parsePort,
  persistToOption,
} from './lib/process/command.ts';
import { UsageError } from './lib/process/command-line.ts';
import { cacheCode } from './lib/process/compile-cache.ts';
import { startHost } from './serve/start-host.ts';

const ABOUT = `Runs the built Worker on this machine, without Cloudflare. Import a snapshot first.

To follow a network it needs the URL of a HORNET node, in the environment variable UPSTREAM_URL,
and who signs milestones: --network, --keys and --threshold, or the variables MILESTONE_PUBLIC_KEYS
and MILESTONE_THRESHOLD. All settings are variables. One that the environment does not have is
taken from .dev.vars, else from [vars] of wrangler.toml (docs/operations.md#settings).`;

const HOST = 'where to listen: by default this machine only';

interface Options extends NetworkOptions {
  host: string;
  port: string;
  proxy: string;
  persistTo: string;
}

export const serveCommand = (): Command =>
  addOptions(
    newCommand('serve', ABOUT)
      // an empty one would be every address
      .option('--host <ADDRESS>', HOST, filled('--host'), '127.0.0.1')
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
  const { host, network, persistTo } = options;
  const port = parsePort(options.port);
  const proxies = parseProxies(options.proxy);
  // the host (serve/host.ts) reads its settings from the environment, too
  Object.assign(process.env, networkSettings(options));
  cacheCode(persistTo);
  const first = startHost();
  try {
    const { serveFolder } = await import('./serve/serve-folder.ts');
    return await serveFolder({ host, port, proxies, persistTo, network }, first);
  } finally {
    await first.stop();
  }
}

function parseProxies(text: string): BlockList {
  const proxies = new BlockList();
  const ranges = [
    '127.0.0.0/8',
    '::1/128',
    ...text.split(',').filter((each) => each.trim() !== ''),
  ];
  for (const range of ranges) {
    // not Number alone: of '10.0.0.0/' that is 0, and everybody would be believed
    const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(range.trim()) ?? [];
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
