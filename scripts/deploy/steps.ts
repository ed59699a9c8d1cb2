/**
 * The steps of a deployment to Cloudflare (docs/operations.md#deploy-to-cloudflare).
 */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { importRemotely } from '../lib/import/import-remotely.ts';
import type { ImportRequest } from '../lib/import/import-snapshot.ts';
import { parseMilestoneKeys } from '../lib/import/milestone-keys.ts';
import type { NodeClient } from '../lib/node-client.ts';
import type { RunWrangler } from '../lib/wrangler/run-wrangler.ts';
import type { WranglerConfig } from '../lib/wrangler/wrangler-config.ts';
import { verifyNode } from '../verify/verify-node.ts';
import { findNamespace, readDeployedDatabase, readDeployedWorker } from './deployed-worker.ts';
import { type Clock, followHealth, type NodeState, readNodeState } from './follow-health.ts';
import type { Notes } from './notes.ts';
import { type Release, STORES_TAG } from './release.ts';
import type { Step } from './run-steps.ts';
import { configWithNamespace, deployWorker } from './wrangler-deploy.ts';

/** What the operator decided, and nothing that can be found out. */
export interface DeployOptions {
  /** All settings of the Worker, by name. */
  vars: Record<string, string>;
  /** Path of a JSON file of secrets, and what is in it. */
  secrets: { path: string; values: Record<string, string> } | undefined;
  /** Undefined where the database holds a ledger already. */
  snapshot: Pick<ImportRequest, 'full' | 'delta'> | undefined;
  /** Where the Worker answers, if wrangler does not tell. */
  url: string | undefined;
}

export interface Deployment {
  config: WranglerConfig;
  /** Of `[env.NAME]` in wrangler.toml; empty: production. */
  environment: string;
  options: DeployOptions;
  release: Release;
  run: RunWrangler;
  notes: Notes;
  /** A folder of this deployment's own. */
  folder: string;
  openNode(url: string): NodeClient;
  clock: Clock;
  print(line: string): void;
}

export function listSteps(deployment: Deployment): Step[] {
  return [
    makeStores(deployment),
    makeTables(deployment),
    importLedger(deployment),
    deployRelease(deployment),
    waitForHealth(deployment),
    verify(deployment),
  ];
}

function makeStores({ config, environment, run, folder }: Deployment): Step {
  return {
    name: 'Worker, D1 and KV',
    describe: `deploy ${config.workerName} without settings, for which wrangler makes the stores`,
    isDone: async () => (await readDeployedWorker(run)) !== undefined,
    async run() {
      // a namespace that an interrupted deployment has left; wrangler would make it a second time
      const namespace = await findNamespace(run, config.workerName);
      const path = namespace && configWithNamespace(namespace, environment, folder);
      await deployWorker(run, folder, [
        ...['--tag', STORES_TAG, '--message', 'The stores, no ledger yet'],
        ...(path === undefined ? [] : ['--config', path]),
      ]);
    },
  };
}

function makeTables({ config: { databaseName }, run }: Deployment): Step {
  return {
    name: 'tables',
    describe: `apply the migrations to D1 ${databaseName}`,
    isDone: async () => (await readDeployedDatabase(run, databaseName)).isMigrated,
    run: async () => void (await run(['d1', 'migrations', 'apply', databaseName, '--remote'])),
  };
}

function importLedger({ config, run, options, folder }: Deployment): Step {
  const { snapshot, vars } = options;
  const files = [snapshot?.full, snapshot?.delta].filter((path) => path !== undefined);
  return {
    name: 'ledger',
    describe: `import ${files.join(' and ') || 'a snapshot'}`,
    isDone: async () => (await readDeployedDatabase(run, config.databaseName)).hasLedger,
    async run() {
      if (snapshot === undefined) throw new Error('The ledger is gone: name a snapshot (--full).');
      const keys = parseMilestoneKeys(vars.MILESTONE_PUBLIC_KEYS, vars.MILESTONE_THRESHOLD);
      await importRemotely({ ...snapshot, keys }, config, run, importFolder(folder));
    },
  };
}

const importFolder = (folder: string) => join(folder, 'import');

function deployRelease({ options, release, run, notes, folder }: Deployment): Step {
  const { vars, secrets } = options;
  const named = Object.entries(vars).filter(([, value]) => value !== '');
  const names = named.map(([name]) => name).join(', ');
  const withSecrets = secrets === undefined ? '' : ` and secrets of ${secrets.path}`;
  return {
    name: 'settings and release',
    describe: `deploy ${release.tag} with settings ${names}${withSecrets}`,
    async isDone() {
      const noted = notes.read();
      const deployed = await readDeployedWorker(run);
      return (
        deployed !== undefined &&
        noted?.versionId === deployed.versionId &&
        release.isExact &&
        release.tag === deployed.tag &&
        secrets === undefined &&
        isSame(vars, deployed.vars)
      );
    },
    async run() {
      const deployed = await deployWorker(run, folder, [
        ...['--tag', release.tag, '--message', release.message],
        ...named.flatMap(([name, value]) => ['--var', `${name}:${value}`]),
        ...(secrets === undefined ? [] : ['--secrets-file', secrets.path]),
      ]);
      notes.write(deployed);
      // an import that was interrupted behind its last step could not tidy up
      rmSync(importFolder(folder), { recursive: true, force: true });
    },
  };
}

/** Absent and empty settings mean the same. */
function isSame(one: Record<string, string>, other: Record<string, string>): boolean {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) => (one[name] ?? '') === (other[name] ?? ''));
}

function waitForHealth(deployment: Deployment): Step {
  const { options, release, clock } = deployment;
  const isReady = (state: NodeState) => isAsMeant(state, options.vars, release.version);
  return {
    name: 'health',
    describe: 'wait until it answers, has caught up and has applied a milestone itself',
    isDone: async () => isReady(await readNodeState(openDeployed(deployment))),
    run: () => followHealth(openDeployed(deployment), isReady, clock),
  };
}

/** Without an upstream nothing is followed: then there is only the version to wait for. */
function isAsMeant(state: NodeState, vars: Record<string, string>, version: string): boolean {
  if (state.version !== version) return false;
  if (!vars.UPSTREAM_URL) return true;
  const isAtEnd = vars.FINAL_MILESTONE === String(state.ledgerIndex);
  return state.isHealthy && (state.hasApplied || isAtEnd);
}

function verify(deployment: Deployment): Step {
  const { options, release, print } = deployment;
  return {
    name: 'verification',
    describe: 'check the newest milestone, its cone and a proof against the keys',
    isDone: async () => false,
    async run() {
      const { MILESTONE_PUBLIC_KEYS: publicKeys, MILESTONE_THRESHOLD: threshold } = options.vars;
      const keys = parseMilestoneKeys(publicKeys, threshold);
      const node = openDeployed(deployment);
      const state = await readNodeState(node);
      if (!isAsMeant(state, options.vars, release.version))
        throw new Error(`The node is not healthy any more: ${state.reason}`);
      if (keys === undefined || !state.hasApplied) {
        print('Not verified: the node has applied no milestone itself, so there is none to check.');
        return;
      }
      for await (const line of verifyNode(node, keys, Math.random())) print(line);
    },
  };
}

/** Where the deployed Worker answers, for people: without user name and password. */
export function deployedUrl({ options, notes }: Deployment): string {
  const url = options.url ?? notes.read()?.url;
  if (url === undefined)
    throw new Error('Wrangler names no URL at which the Worker answers: give --url.');
  return url;
}

/** With the user name and the password that were deployed, where they are at hand. */
function openDeployed(deployment: Deployment): NodeClient {
  const url = new URL(deployedUrl(deployment));
  const { API_USER: user, API_PASSWORD: password } = deployment.options.secrets?.values ?? {};
  if (url.username === '' && user !== undefined && password !== undefined)
    Object.assign(url, {
      username: encodeURIComponent(user),
      password: encodeURIComponent(password),
    });
  return deployment.openNode(url.href);
}
