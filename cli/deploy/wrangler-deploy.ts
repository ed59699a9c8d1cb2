/**
 * `wrangler deploy`: the configuration that it reads, and what it reports.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import * as v from 'valibot';
import packageJson from '../../package.json' with { type: 'json' };
import { PROJECT } from '../lib/project.ts';
import type { RunWrangler } from '../lib/wrangler/run-wrangler.ts';
import { WRANGLER_TOML } from '../lib/wrangler/wrangler-config.ts';
import { completeLimits } from './rate-limits.ts';

/** The folder of an environment's deployment: its configuration, and the state of an import. */
export function deployFolder(environment: string): string {
  return join(PROJECT, '.wrangler', 'deploy', environment || 'production');
}

/** Names a file to which wrangler appends a line of JSON for each of its results. */
const OUTPUT_FILE = 'WRANGLER_OUTPUT_FILE_PATH';

const deployed = v.object({ type: v.literal('deploy'), targets: v.array(v.string()) });

/**
 * Returns the URL at which the Worker answers, undefined if wrangler names none, as with routes of
 * a zone.
 *
 * @param folder where wrangler's file goes
 */
export async function deployWorker(
  run: RunWrangler,
  folder: string,
  flags: readonly string[],
): Promise<string | undefined> {
  const path = join(folder, 'wrangler-output.jsonl');
  rmSync(path, { force: true });
  await run(['deploy', '--minify', ...flags], { [OUTPUT_FILE]: path });
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  const found = lines
    .map((line) => v.safeParse(deployed, JSON.parse(line)))
    .find(({ success }) => success);
  if (!found?.success) throw new Error('wrangler deploy did not say that it deployed');
  const urls = found.output.targets.map(urlOf).filter((url) => url !== undefined);
  return urls.find((url) => !url.endsWith('.workers.dev')) ?? urls[0];
}

/** Of a target as wrangler prints it: a URL, or a host name and how it is bound. */
function urlOf(target: string): string | undefined {
  if (target.startsWith('https://')) return target;
  const host = /^([\w.-]+) \(custom domain/.exec(target)?.[1];
  return host && `https://${host}`;
}

/**
 * Writes a copy of wrangler.toml with all rate limits, and with NFT_INDEX bound to a namespace, unless
 * wrangler.toml names one. Returns its path. wrangler finds D1 by its name, but KV by its ID only.
 */
export function writeConfig(folder: string, environment: string, namespaceId: string): string {
  const config = parse(readFileSync(WRANGLER_TOML, 'utf8')) as Record<string, unknown>;
  const environments = config.env as Record<string, unknown> | undefined;
  const table = (environment === '' ? config : environments?.[environment]) as {
    kv_namespaces: { binding: string; id?: string }[];
    d1_databases: { migrations_dir: string }[];
    ratelimits?: Parameters<typeof completeLimits>[0];
  };
  table.ratelimits = completeLimits(table.ratelimits, environment);
  for (const namespace of table.kv_namespaces)
    if (namespace.binding === 'NFT_INDEX') namespace.id ??= namespaceId;
  // paths are relative to the file
  for (const database of table.d1_databases)
    database.migrations_dir = join(PROJECT, database.migrations_dir);
  config.main = join(PROJECT, String(config.main));
  const assets = config.assets as { directory: string };
  assets.directory = join(PROJECT, assets.directory);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'wrangler.json');
  writeFileSync(path, JSON.stringify(config));
  return path;
}

/** Version and commit, as `0.2.0-ec21ab6` or `0.2.0-ec21ab6-dirty`; without git `0.2.0`. */
export function readTag(): string {
  try {
    const commit = execFileSync('git', ['describe', '--always', '--dirty', '--exclude=*'], {
      cwd: PROJECT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return `${packageJson.version}-${commit.trim()}`;
  } catch {
    return packageJson.version;
  }
}
