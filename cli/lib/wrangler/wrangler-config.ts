/**
 * What the scripts need of wrangler.toml. A test compares it with what wrangler's own reader finds,
 * which comes with all of wrangler: 300 MB of memory.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import * as v from 'valibot';
import { PROJECT } from '../project.ts';

/** Its whole path. */
export const WRANGLER_TOML = join(PROJECT, 'wrangler.toml');

export interface WranglerConfig {
  /** Names the deployed Worker. */
  workerName: string;
  compatibilityDate: string;
  compatibilityFlags: string[];
  /** Names the ledger's database on Cloudflare. */
  databaseName: string;
  /** Names the KV namespace of the NFT index on Cloudflare, as wrangler would by itself. */
  namespaceTitle: string;
  /** Its ID, if the file names one. */
  namespaceId: string | undefined;
  /** Names its file on this machine. */
  localDatabaseId: string;
  /** Names the namespace of the NFT index on this machine. */
  localNamespaceId: string;
  /** Numbers as text, as the Worker gets them. */
  vars: Record<string, string>;
}

const bindings = v.optional(v.array(v.looseObject({ binding: v.string() })), []);
const text = v.optional(v.string());
const database = v.object({ database_name: text, database_id: text, preview_database_id: text });
const namespace = v.object({ id: text, preview_id: text });
const environmentTable = v.object({
  name: text,
  compatibility_date: text,
  compatibility_flags: v.optional(v.array(v.string())),
  d1_databases: bindings,
  kv_namespaces: bindings,
  vars: v.optional(v.record(v.string(), v.pipe(v.unknown(), v.transform(String))), {}),
});
const file = v.object({
  ...environmentTable.entries,
  name: v.string(),
  compatibility_date: v.string(),
  env: v.optional(v.record(v.string(), environmentTable), {}),
});

/**
 * Throws an Error with a sentence when the file lacks the environment or one of our bindings.
 *
 * @param environment one of `[env.NAME]`; empty: the top of the file, which is production
 */
export function readWranglerConfig(path = WRANGLER_TOML, environment = ''): WranglerConfig {
  const whole = v.parse(file, parse(readFileSync(path, 'utf8')));
  const config = environment === '' ? whole : whole.env[environment];
  if (config === undefined) throw new Error(`${path} has no [env.${environment}]`);
  const bound = (kind: 'd1_databases' | 'kv_namespaces', name: string) => {
    const found = config[kind].find(({ binding }) => binding === name);
    if (found === undefined) throw new Error(`${path} has no [[${kind}]] with binding = "${name}"`);
    return found;
  };
  const ledger = v.parse(database, bound('d1_databases', 'LEDGER'));
  const index = v.parse(namespace, bound('kv_namespaces', 'NFT_INDEX'));
  const workerName = config.name ?? `${whole.name}-${environment}`;
  return {
    workerName,
    namespaceTitle: `${workerName}-nft-index`,
    namespaceId: index.id,
    compatibilityDate: config.compatibility_date ?? whole.compatibility_date,
    compatibilityFlags: config.compatibility_flags ?? whole.compatibility_flags ?? [],
    databaseName: ledger.database_name ?? 'LEDGER',
    localDatabaseId: ledger.preview_database_id ?? ledger.database_id ?? 'LEDGER',
    localNamespaceId: index.preview_id ?? index.id ?? 'NFT_INDEX',
    vars: config.vars,
  };
}
