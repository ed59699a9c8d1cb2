/**
 * A machine from which `stardust-edge deploy` deploys to an account in memory, and the node that
 * then answers: a recorded network.
 */
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dryRun } from '../../../cli/deploy/dry-run.ts';
import { findDeployed } from '../../../cli/deploy/find-deployed.ts';
import { type Flags, resolveOptions } from '../../../cli/deploy/resolve-options.ts';
import { type Deployment, runSteps } from '../../../cli/deploy/steps.ts';
import { inEnvironment } from '../../../cli/lib/wrangler/run-wrangler.ts';
import { readWranglerConfig, WRANGLER_TOML } from '../../../cli/lib/wrangler/wrangler-config.ts';
import type { NodeClient } from '../../../client/node-client.ts';
import { isPublic, matchesAny } from '../../../src/http/access/route-access.ts';
import { ledgerStateHash } from '../../../src/ledger/read/ledger-state-hash.ts';
import type { EdgeNode } from '../../../src/node/edge-node.ts';
import type { Fetch } from '../http/contract.ts';
import { recordedNode, withAge } from '../http/recorded-node.ts';
import { fetchFrom } from '../http/stub-node.ts';
import { dump } from '../ledger/memory-database.ts';
import { recordedNetwork } from '../network/recorded-network.ts';
import { currentVersion, FakeAccount, fakeWrangler } from './fake-account.ts';
import { lastingFolder, unpackVector } from './script-process.ts';

export const network = recordedNetwork('network-a');
const base = lastingFolder();
export const NAME = 'stardust-edge-node';

const HORNET_CONFIG = join(base, 'config.json');
writeFileSync(
  HORNET_CONFIG,
  JSON.stringify({
    protocol: {
      milestonePublicKeyCount: network.keys.threshold,
      publicKeyRanges: network.keys.keys.map(({ publicKey, first, last }) => ({
        key: publicKey.toHex(),
        start: first,
        end: last,
      })),
    },
  }),
);

export const FLAGS: Flags = {
  network: HORNET_CONFIG,
  upstream: 'https://hornet.example',
  full: unpackVector(base, 'network-a/full_snapshot.bin'),
  delta: unpackVector(base, 'network-a/delta_snapshot.bin'),
};

export const TAG = '0.0.0-abc1234';

export const nobody = () => Promise.reject(new Error('nobody can be asked'));

/** A machine from which is deployed, and what it deploys to. */
export class Machine {
  readonly folder = mkdtempSync(join(base, 'machine-'));
  readonly printed: string[] = [];
  /** Whether the last dry run checked all. */
  checked: boolean | undefined;
  readonly account: FakeAccount;
  readonly environment: string;
  flags: Flags;
  tag = TAG;
  /** Milestones that the deployed node is behind; one less with each look. */
  behind = 3;
  time = 0;

  /** How a Worker answers that has settings and a ledger. */
  serve = () => fetchNode(60 - this.behind);

  constructor(flags: Flags = FLAGS, environment = '', account = new FakeAccount()) {
    this.flags = { ...flags };
    this.environment = environment;
    this.account = account;
  }

  /** What `stardust-edge deploy` does. */
  async deploy(): Promise<string> {
    const deployment = this.#open();
    const found = await findDeployed(deployment.run, deployment.config);
    const options = await resolveOptions(this.flags, deployment.config, found, nobody);
    return runSteps(deployment, found, options);
  }

  /** What `stardust-edge deploy --dry-run` prints. */
  async dryRun(): Promise<string[]> {
    this.printed.length = 0;
    const deployment = this.#open();
    const found = await findDeployed(deployment.run, deployment.config);
    this.checked = await dryRun(deployment, found, this.flags);
    return [...this.printed];
  }

  #open(): Deployment {
    const { folder, account, environment, tag } = this;
    return {
      config: readWranglerConfig(WRANGLER_TOML, environment),
      run: inEnvironment(environment, fakeWrangler(account)),
      ...{ environment, folder, tag },
      openNodeClient: (url) => async (path, options) =>
        this.#refuse(path, new URL(url).username !== '') ?? this.node(path, options),
      clock: {
        now: () => this.time,
        sleep: async (milliseconds) => {
          this.time += milliseconds;
          this.behind = Math.max(0, this.behind - 1);
        },
      },
      print: (line) => void this.printed.push(line),
    };
  }

  /** Who may not ask, by the deployed settings: with 403 or 401. */
  #refuse(path: string, isKnown: boolean): Response | undefined {
    const { vars = {} } = currentVersion(this.account, this.name) ?? {};
    const routesOf = (setting: string) => (vars[setting] ?? '').split(',').filter(Boolean);
    if (!isPublic(path, routesOf('PUBLIC_ROUTES'))) return new Response(null, { status: 403 });
    const isProtected = !isKnown && matchesAny(path, routesOf('PROTECTED_ROUTES'));
    return isProtected ? new Response(null, { status: 401 }) : undefined;
  }

  /** The deployed Worker: 500 until there are settings and a ledger. */
  readonly node: NodeClient = async (path, { body, accept } = {}) => {
    const version = currentVersion(this.account, this.name);
    const isServing = version?.vars.MILESTONE_THRESHOLD && (await this.hasLedger());
    const serve = isServing ? this.serve() : fetchFrom({ node: NO_LEDGER });
    return serve(path, {
      headers: accept === undefined ? {} : { accept },
      ...(body !== undefined && { method: 'POST', body }),
    });
  };

  get name(): string {
    return this.environment === '' ? NAME : `${NAME}-${this.environment}`;
  }

  get #database() {
    const { databaseName } = readWranglerConfig(WRANGLER_TOML, this.environment);
    return this.account.databases.get(databaseName)?.database;
  }

  async hasLedger(): Promise<boolean> {
    const head = this.#database?.prepare('SELECT * FROM head').first();
    return (await head?.catch(() => null)) != null;
  }

  async ledgerHash(): Promise<string> {
    return (await ledgerStateHash(this.#database!)).toHex();
  }

  /** All that a run leaves behind, but for IDs, times, and how often was deployed. */
  async state(): Promise<unknown> {
    const { account } = this;
    const version = currentVersion(account, this.name)!;
    const titleOf = (id: string) => [...account.namespaces].find(([, each]) => each === id)?.[0];
    const nameOf = (id: string) => [...account.databases].find(([, each]) => each.id === id)?.[0];
    return {
      namespaces: [...account.namespaces.keys()],
      databases: [...account.databases.keys()],
      tables: { ...(await dump(this.#database!)), head: 0, nft_index: 0 },
      workers: [...account.workers.keys()],
      hasTriggers: account.workers.get(this.name)!.hasTriggers,
      version: {
        ...version,
        id: '',
        namespaceId: titleOf(version.namespaceId),
        databaseId: nameOf(version.databaseId),
      },
      leftOver: existsSync(join(this.folder, 'import')),
    };
  }
}

const NO_LEDGER = { readStatus: async () => undefined };

const nodes = new Map<string, Promise<EdgeNode>>();

/**
 * The recorded network at a milestone, which is just now at 60 and old before.
 *
 * @param from where its snapshot was made
 */
export function fetchNode(index: number, from = network.genesis.index): Fetch {
  const key = `${index} ${from}`;
  const node = nodes.get(key) ?? recordedNode(network, index, from);
  nodes.set(key, node);
  const age = index === 60 || from === index ? 0 : 1000;
  return async (path, init) => fetchFrom({ node: withAge(await node, age) })(path, init);
}

/** A file of secrets, as a flag. */
export function withSecrets(secrets: Record<string, string>): Flags {
  const path = join(mkdtempSync(join(base, 'secrets-')), 'secrets.json');
  writeFileSync(path, JSON.stringify(secrets));
  return { secrets: path };
}
