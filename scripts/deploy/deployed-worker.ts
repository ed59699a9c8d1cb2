/**
 * What Cloudflare has of a deployment, asked by wrangler. Only reads.
 *
 * The answer to "is this step done?" comes from here and not from notes on this machine: a step
 * that was done when the machine failed is seen to be done, whatever was noted.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { requireSchema } from '../../src/ledger/core/schema.ts';
import { errorMessage } from '../lib/process/command-line.ts';
import { PROJECT } from '../lib/project.ts';
import type { RunWrangler } from '../lib/wrangler/run-wrangler.ts';

export interface DeployedWorker {
  versionId: string;
  /** What the deployment was called by `wrangler deploy --tag`. */
  tag: string | undefined;
  /** Settings, by name. */
  vars: Record<string, string>;
  /** Names of secrets; nobody can read their values. */
  secrets: string[];
}

/** Cloudflare's error for a Worker that does not exist, and for a database. */
const NO_WORKER = '[code: 10007]';
const NO_DATABASE = /Couldn't find (?:a|an auto-provisioned) D1 DB/;

const deployment = v.object({
  versions: v.array(v.object({ version_id: v.string(), percentage: v.number() })),
});
const version = v.object({
  annotations: v.optional(v.object({ 'workers/tag': v.optional(v.string()) })),
  resources: v.object({
    bindings: v.array(
      v.object({ type: v.string(), name: v.string(), text: v.optional(v.string()) }),
    ),
  }),
});

/** Undefined where there is no such Worker. Throws an Error while two versions are deployed. */
export async function readDeployedWorker(run: RunWrangler): Promise<DeployedWorker | undefined> {
  const status = await run(['deployments', 'status', '--json']).catch((error: unknown) => {
    if (errorMessage(error).includes(NO_WORKER)) return undefined;
    throw error;
  });
  if (status === undefined) return undefined;
  const { versions } = v.parse(deployment, JSON.parse(status));
  const [{ version_id: versionId } = { version_id: '' }, ...others] = versions;
  if (versionId === '' || others.length > 0) {
    throw new Error(
      'The Worker has a gradual deployment under way: end it first (npx wrangler versions deploy).',
    );
  }
  const { annotations, resources } = v.parse(
    version,
    JSON.parse(await run(['versions', 'view', versionId, '--json'])),
  );
  const ofType = (type: string) => resources.bindings.filter((each) => each.type === type);
  return {
    versionId,
    tag: annotations?.['workers/tag'],
    vars: Object.fromEntries(ofType('plain_text').map(({ name, text = '' }) => [name, text])),
    secrets: ofType('secret_text').map(({ name }) => name),
  };
}

export interface DeployedDatabase {
  /** Whether all migrations of the folder are applied. */
  isMigrated: boolean;
  hasLedger: boolean;
}

/** There may be no database at all. Throws a LedgerUnreadable if its ledger has another schema. */
export async function readDeployedDatabase(
  run: RunWrangler,
  databaseName: string,
): Promise<DeployedDatabase> {
  const query = async (command: string) => {
    const args = ['d1', 'execute', databaseName, '--remote', '--yes', '--json'];
    const output = await run([...args, '--command', command]);
    const [first] = JSON.parse(output) as { results: Record<string, unknown>[] }[];
    return first!.results;
  };
  const found = await query('SELECT name FROM sqlite_master').catch((error: unknown) => {
    if (NO_DATABASE.test(errorMessage(error))) return undefined;
    throw error;
  });
  const tables = new Set(found?.map(({ name }) => name));
  const isMigrated = tables.has('d1_migrations') && hasAll(await query(SELECT_MIGRATIONS));
  const [head] = tables.has('head') ? await query('SELECT * FROM head') : [];
  if (head !== undefined) requireSchema(head.schema);
  return { isMigrated, hasLedger: head !== undefined };
}

const SELECT_MIGRATIONS = 'SELECT name FROM d1_migrations';

function hasAll(rows: readonly Record<string, unknown>[]): boolean {
  const applied = new Set(rows.map(({ name }) => name));
  return readdirSync(join(PROJECT, 'migrations'))
    .filter((name) => name.endsWith('.sql'))
    .every((name) => applied.has(name));
}

/** What is there before a deployment. */
export interface Found {
  worker: DeployedWorker | undefined;
  hasLedger: boolean;
}

export const NOTHING_DEPLOYED: Found = { worker: undefined, hasLedger: false };

export async function findDeployed(run: RunWrangler, databaseName: string): Promise<Found> {
  const { hasLedger } = await readDeployedDatabase(run, databaseName);
  return { worker: await readDeployedWorker(run), hasLedger };
}

/**
 * The ID of the KV namespace that wrangler made for a Worker and its binding NFT_INDEX; undefined
 * where there is none.
 */
export async function findNamespace(
  run: RunWrangler,
  workerName: string,
): Promise<string | undefined> {
  const namespaces = v.parse(
    v.array(v.object({ id: v.string(), title: v.string() })),
    JSON.parse(await run(['kv', 'namespace', 'list'])),
  );
  return namespaces.find(({ title }) => title === `${workerName}-nft-index`)?.id;
}
