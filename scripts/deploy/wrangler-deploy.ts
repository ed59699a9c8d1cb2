/**
 * `wrangler deploy`, and what it tells of the deployment.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import * as v from 'valibot';
import { PROJECT } from '../lib/project.ts';
import type { RunWrangler } from '../lib/wrangler/run-wrangler.ts';
import { WRANGLER_TOML } from '../lib/wrangler/wrangler-config.ts';

export interface DeployedVersion {
  versionId: string;
  /** Undefined where wrangler names none, as with routes of a zone. */
  url: string | undefined;
}

/** This variable names a file: wrangler adds a line of JSON to it for each thing that it did. */
const OUTPUT_FILE = 'WRANGLER_OUTPUT_FILE_PATH';

const deployed = v.object({
  type: v.literal('deploy'),
  version_id: v.string(),
  targets: v.array(v.string()),
});

/** @param folder where wrangler's file goes */
export async function deployWorker(
  run: RunWrangler,
  folder: string,
  flags: readonly string[],
): Promise<DeployedVersion> {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'wrangler-output.jsonl');
  rmSync(path, { force: true });
  await run(['deploy', '--minify', ...flags], { [OUTPUT_FILE]: path });
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  const found = lines
    .map((line) => v.safeParse(deployed, JSON.parse(line)))
    .find(({ success }) => success);
  if (!found?.success) throw new Error('wrangler deploy did not say which version it deployed');
  const { version_id: versionId, targets } = found.output;
  return { versionId, url: targets.map(urlOf).find((url) => url !== undefined) };
}

/** Of a target as wrangler prints it: a URL, or a host name and how it is bound. */
function urlOf(target: string): string | undefined {
  if (target.startsWith('https://')) return target;
  const host = /^([\w.-]+) \(custom domain/.exec(target)?.[1];
  return host && `https://${host}`;
}

/**
 * Writes a copy of wrangler.toml in which NFT_INDEX is bound to a namespace, and returns its path.
 */
export function configWithNamespace(id: string, environment: string, folder: string): string {
  const config = parse(readFileSync(WRANGLER_TOML, 'utf8')) as Record<string, unknown>;
  const environments = config.env as Record<string, unknown> | undefined;
  const table = (environment === '' ? config : environments?.[environment]) as {
    kv_namespaces: { binding: string; id?: string }[];
  };
  for (const namespace of table.kv_namespaces)
    if (namespace.binding === 'NFT_INDEX') namespace.id = id;
  config.main = join(PROJECT, String(config.main));
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'wrangler.json');
  writeFileSync(path, JSON.stringify(config));
  return path;
}
