/**
 * Reads by wrangler what is deployed at Cloudflare. Changes nothing.
 *
 * This, and no state on this machine, decides which steps are done. So an interrupted deployment
 * can be resumed from any machine.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { requireSchema } from '../../src/ledger/core/head.ts';
import { SELECT_SERVED, servedFromRows } from '../lib/import/check-replacement.ts';
import { errorMessage } from '../lib/process/command-line.ts';
import { PROJECT } from '../lib/project.ts';
import { queryRemotely, type RunWrangler } from '../lib/wrangler/run-wrangler.ts';
import type { WranglerConfig } from '../lib/wrangler/wrangler-config.ts';

export interface DeployedWorker {
  /** Settings, by name. */
  vars: Record<string, string>;
  /** Names of secrets; nobody can read their values. */
  secrets: string[];
}

/** D1 and KV, found by their names. */
export interface Stores {
  hasDatabase: boolean;
  /** ID of the KV namespace, and its title, which is another one where wrangler.toml has an ID. */
  namespaceId: string | undefined;
  namespaceTitle: string | undefined;
}

export interface Found extends Stores {
  worker: DeployedWorker | undefined;
  /** Whether D1 has all migrations of the folder, and a ledger. */
  isMigrated: boolean;
  hasLedger: boolean;
  /** Names that its network has had. */
  networks: readonly string[];
}

export const NOTHING_DEPLOYED: Found = {
  hasDatabase: false,
  namespaceId: undefined,
  namespaceTitle: undefined,
  worker: undefined,
  isMigrated: false,
  hasLedger: false,
  networks: [],
};

/**
 * Throws a LedgerUnreadable if D1 has a ledger of another schema that no migration is to convert,
 * and an Error while two versions of the Worker are deployed.
 */
export async function findDeployed(run: RunWrangler, config: WranglerConfig): Promise<Found> {
  const stores = await findStores(run, config);
  const contents = stores.hasDatabase
    ? await readContents(run, config.databaseName)
    : { isMigrated: false, hasLedger: false, networks: [] };
  return { ...stores, ...contents, worker: await readWorker(run) };
}

export async function findStores(run: RunWrangler, config: WranglerConfig): Promise<Stores> {
  const databases = v.parse(
    v.array(v.object({ name: v.string() })),
    JSON.parse(await run(['d1', 'list', '--json'])),
  );
  const namespaces = v.parse(
    v.array(v.object({ id: v.string(), title: v.string() })),
    JSON.parse(await run(['kv', 'namespace', 'list'])),
  );
  const { databaseName, namespaceId, namespaceTitle } = config;
  const namespace = namespaces.find(({ id, title }) =>
    namespaceId === undefined ? title === namespaceTitle : id === namespaceId,
  );
  return {
    hasDatabase: databases.some(({ name }) => name === databaseName),
    namespaceId: namespace?.id,
    namespaceTitle: namespace?.title,
  };
}

/** Cloudflare's error for a Worker that does not exist. */
const NO_WORKER = '[code: 10007]';

const deployment = v.object({ versions: v.array(v.object({ version_id: v.string() })) });
const version = v.object({
  resources: v.object({
    bindings: v.array(
      v.object({ type: v.string(), name: v.string(), text: v.optional(v.string()) }),
    ),
  }),
});

/** Undefined if there is no such Worker. Throws an Error while two versions are deployed. */
export async function readWorker(run: RunWrangler): Promise<DeployedWorker | undefined> {
  const status = await run(['deployments', 'status', '--json']).catch((error: unknown) => {
    if (errorMessage(error).includes(NO_WORKER)) return undefined;
    throw error;
  });
  if (status === undefined) return undefined;
  const [only, ...others] = v.parse(deployment, JSON.parse(status)).versions;
  if (only === undefined || others.length > 0) {
    throw new Error(
      'The Worker has a gradual deployment under way: end it first (npx wrangler versions deploy).',
    );
  }
  const view = await run(['versions', 'view', only.version_id, '--json']);
  const { bindings } = v.parse(version, JSON.parse(view)).resources;
  const ofType = (type: string) => bindings.filter((each) => each.type === type);
  return {
    vars: Object.fromEntries(ofType('plain_text').map(({ name, text = '' }) => [name, text])),
    secrets: ofType('secret_text').map(({ name }) => name),
  };
}

/** Throws as {@link findDeployed} does. */
export async function readContents(
  run: RunWrangler,
  databaseName: string,
): Promise<Pick<Found, 'isMigrated' | 'hasLedger' | 'networks'>> {
  const query = async (sql: string) => (await queryRemotely(run, databaseName, sql))[0]!;
  const tables = new Set((await query('SELECT name FROM sqlite_master')).map(({ name }) => name));
  const applied = tables.has('d1_migrations') ? await query('SELECT name FROM d1_migrations') : [];
  const [head] = tables.has('head') ? await query('SELECT * FROM head') : [];
  const isMigrated = hasAll(applied.map(({ name }) => name));
  // 0: the operator has stopped the Worker for Time Travel (docs/operations.md#restore)
  if (isMigrated && head !== undefined && head.schema !== 0) requireSchema(head.schema);
  const served = head && servedFromRows([[head], await query(SELECT_SERVED[1]!)]);
  return {
    isMigrated,
    hasLedger: head !== undefined,
    networks: served?.networks ?? [],
  };
}

function hasAll(applied: readonly unknown[]): boolean {
  return readdirSync(join(PROJECT, 'migrations'))
    .filter((name) => name.endsWith('.sql'))
    .every((name) => applied.includes(name));
}
