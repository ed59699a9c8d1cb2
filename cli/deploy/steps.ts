/**
 * The steps of a deployment to Cloudflare (docs/cloudflare.md#deploy).
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type NodeClient, splitCredentials } from '../../client/node-client.ts';
import { verifyNode } from '../../client/verify-node.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { verifySignature } from '../../src/platform/verify-signature.ts';
import { provedValue } from '../../src/stardust/provenance/provenance.ts';
import { importRemotely } from '../lib/import/import-remotely.ts';
import { parseMilestoneKeys } from '../lib/import/milestone-keys.ts';
import type { RunWrangler } from '../lib/wrangler/run-wrangler.ts';
import type { WranglerConfig } from '../lib/wrangler/wrangler-config.ts';
import { type Found, findStores, readContents } from './find-deployed.ts';
import { type Clock, followHealth, type NodeState } from './follow-health.ts';
import { type DeployOptions, namedSettings } from './resolve-options.ts';
import { deployWorker, writeConfig } from './wrangler-deploy.ts';

/** What a deployment works with. */
export interface Deployment {
  config: WranglerConfig;
  /** Of `[env.NAME]` in wrangler.toml; empty: production. */
  environment: string;
  run: RunWrangler;
  /** A folder of this deployment's own. */
  folder: string;
  /** Names the deployed version on Cloudflare. */
  tag: string;
  openNodeClient(url: string): NodeClient;
  clock: Clock;
  print(line: string): void;
}

export interface Step {
  name: string;
  /** What it does, for people: an infinitive. */
  describe: string;
  isDone: boolean;
}

/** @param found what there is before the deployment */
export function listSteps({ config, tag }: Deployment, found: Found) {
  const { databaseName, namespaceTitle, workerName } = config;
  const step = (name: string, describe: string, isDone = false): Step => ({
    name,
    describe,
    isDone,
  });
  const hasStores = found.hasDatabase && found.namespaceId !== undefined;
  return {
    stores: step('D1 and KV', `create D1 ${databaseName} and KV ${namespaceTitle}`, hasStores),
    tables: step('tables', 'apply the migrations to D1', found.isMigrated),
    ledger: step('ledger', 'import a snapshot', found.hasLedger),
    worker: step('Worker', `deploy ${workerName} ${tag} with its settings and secrets`),
    health: step('health', 'wait until it answers and, if it follows a node, has caught up'),
    verification: step('verification', 'check the newest milestone that it applied, and a proof'),
  };
}

/**
 * Does the steps that are not done, in order. Each may be repeated: it was perhaps done before, in
 * part or as a whole. Throws what a step throws, and does no further one.
 *
 * @returns where the Worker answers, without user name and password
 */
export async function runSteps(
  deployment: Deployment,
  found: Found,
  options: DeployOptions,
): Promise<string> {
  const { config, run, folder, print } = deployment;
  const steps = listSteps(deployment, found);
  const all: Step[] = Object.values(steps);
  /** Prints the step, and returns whether it has to be done. */
  const begin = (step: Step) => {
    const done = step.isDone ? ': done before' : '';
    print(`[${all.indexOf(step) + 1}/${all.length}] ${step.name}${done}`);
    return !step.isDone;
  };
  const { namespaceId } = begin(steps.stores) ? await makeStores(deployment, options) : found;
  const path = writeConfig(folder, deployment.environment, namespaceId!);
  const runWithStores: RunWrangler = (args, env) => run([...args, '--config', path], env);
  if (begin(steps.tables)) {
    await runWithStores(['d1', 'migrations', 'apply', config.databaseName, '--remote']);
    // a ledger that they did not convert needs an import
    if (found.hasLedger) await readContents(run, config.databaseName);
  }
  if (begin(steps.ledger)) await importLedger(deployment, options, runWithStores);
  begin(steps.worker);
  const url = await deployRelease(deployment, options, runWithStores);
  begin(steps.health);
  const node = deployment.openNodeClient(withPassword(url, options));
  const state = await waitForHealth(deployment, options, node);
  begin(steps.verification);
  await verify(deployment, options, node, state);
  return splitCredentials(url).base;
}

async function makeStores(
  { config, run }: Deployment,
  { location, jurisdiction }: DeployOptions,
): Promise<{ namespaceId: string | undefined }> {
  const found = await findStores(run, config);
  if (found.namespaceId === undefined && config.namespaceId !== undefined)
    throw new Error(
      `The account has no KV namespace ${config.namespaceId}, which wrangler.toml names: ` +
        'correct its id, or remove it to have one created.',
    );
  const within = jurisdiction === undefined ? [] : ['--jurisdiction', jurisdiction];
  const near = location === undefined ? [] : ['--location', location];
  if (!found.hasDatabase) await run(['d1', 'create', config.databaseName, ...near, ...within]);
  if (found.namespaceId !== undefined) return found;
  await run(['kv', 'namespace', 'create', config.namespaceTitle, ...within]);
  return await findStores(run, config);
}

async function importLedger(
  { config, folder }: Deployment,
  { snapshot, vars }: DeployOptions,
  run: RunWrangler,
): Promise<void> {
  const keys = parseMilestoneKeys(vars.MILESTONE_PUBLIC_KEYS, vars.MILESTONE_THRESHOLD);
  await importRemotely({ ...snapshot!, keys }, config, run, importFolder(folder));
}

const importFolder = (folder: string) => join(folder, 'import');

/** @returns where the Worker answers */
async function deployRelease(
  { tag, folder, config }: Deployment,
  { vars, secrets, domain, url }: DeployOptions,
  run: RunWrangler,
): Promise<string> {
  const found = await deployWorker(run, folder, [
    ...['--tag', tag],
    ...namedSettings(vars, config).flatMap(([name, value]) => ['--var', `${name}:${value}`]),
    ...(secrets === undefined ? [] : ['--secrets-file', secrets.path]),
    ...(domain === undefined ? [] : ['--domain', domain]),
  ]);
  // an import that was interrupted after its last step left it
  rmSync(importFolder(folder), { recursive: true, force: true });
  const known = url ?? found;
  if (known === undefined)
    throw new Error('wrangler does not say at which URL the Worker answers: add --url');
  return known;
}

/** The URL with the user name and the password that were deployed, where they are at hand. */
function withPassword(href: string, { secrets }: DeployOptions): string {
  const url = new URL(href);
  const { API_USER: user, API_PASSWORD: password } = secrets?.values ?? {};
  if (url.username === '' && user !== undefined && password !== undefined)
    Object.assign(url, {
      username: encodeURIComponent(user),
      password: encodeURIComponent(password),
    });
  return url.href;
}

/** Returns when the node answers as this version and, if it follows a node, is healthy. */
function waitForHealth(
  { clock }: Deployment,
  { vars }: DeployOptions,
  node: NodeClient,
): Promise<NodeState> {
  const isReady = ({ version, isHealthy, hasApplied, ledgerIndex }: NodeState) => {
    if (version !== packageJson.version) return false;
    if (!vars.UPSTREAM_URL) return true;
    return isHealthy && (hasApplied || Number(vars.FINAL_MILESTONE) === ledgerIndex);
  };
  return followHealth(node, isReady, clock);
}

async function verify(
  { print }: Deployment,
  { vars }: DeployOptions,
  node: NodeClient,
  { hasApplied, reason }: NodeState,
): Promise<void> {
  const keys = parseMilestoneKeys(vars.MILESTONE_PUBLIC_KEYS, vars.MILESTONE_THRESHOLD);
  if (keys === undefined || !hasApplied) {
    print(`Not verified: the node shows no milestone that it applied itself: ${reason}`);
    return;
  }
  const trust = { whose: 'the keys that were given', keys, verify: verifySignature };
  await verifyNode(node, trust, Math.random(), {
    onProved: (sentence) => print(provedValue(sentence)),
    // a first deployment closes them (public-routes.ts)
    onClosed: print,
    now: () => Date.now() / 1000,
  });
}
