/**
 * `npm run deploy`: from nothing to a verified node, whatever fails on the way. Wrangler and the
 * account at Cloudflare are stand-ins; the databases are SQLite, and what is imported is recorded.
 */
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { findDeployed } from '../../scripts/deploy/deployed-worker.ts';
import { openNotes } from '../../scripts/deploy/notes.ts';
import type { Release } from '../../scripts/deploy/release.ts';
import { describeSteps, runSteps } from '../../scripts/deploy/run-steps.ts';
import { type Flags, settleAnswers } from '../../scripts/deploy/settle-answers.ts';
import { type Deployment, deployedUrl, listSteps } from '../../scripts/deploy/steps.ts';
import type { NodeClient } from '../../scripts/lib/node-client.ts';
import { inEnvironment } from '../../scripts/lib/wrangler/run-wrangler.ts';
import { readWranglerConfig, WRANGLER_TOML } from '../../scripts/lib/wrangler/wrangler-config.ts';
import { ledgerStateHash } from '../../src/ledger/ledger-state-hash.ts';
import { fromHex } from '../../src/stardust/bytes.ts';
import { recordedNode, recordedStatus } from '../support/http/recorded-node.ts';
import { fetchFrom } from '../support/http/stub-node.ts';
import { questionOf } from '../support/ledger/ledger-harness.ts';
import { dump } from '../support/ledger/memory-database.ts';
import { coneOf } from '../support/network/network-model.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';
import { currentVersion, FakeAccount } from '../support/scripts/fake-account.ts';
import { fakeDeployWrangler } from '../support/scripts/fake-deploy-wrangler.ts';
import { temporaryFolder, unpackVector } from '../support/scripts/script-process.ts';

const network = recordedNetwork('network-a');
const base = temporaryFolder();
const NAME = 'stardust-edge-node';
/** test/vectors/README.md */
const HASH_A = '987f45404baa75ebb31617db0dda5458367b1da1a1bc2859a860c2498e796b9e';

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

const FLAGS: Flags = {
  network: HORNET_CONFIG,
  upstream: 'https://hornet.example',
  full: unpackVector(base, 'network-a/full_snapshot.bin'),
  delta: unpackVector(base, 'network-a/delta_snapshot.bin'),
};

const RELEASE: Release = {
  version: packageJson.version,
  tag: `${packageJson.version}-abc1234`,
  message: 'Version … of commit abc1234',
  isExact: true,
};

const nobody = () => Promise.reject(new Error('nobody can be asked'));
beforeEach(() => void vi.spyOn(console, 'log').mockImplementation(() => undefined));

/** A machine from which is deployed, and what it deploys to. */
class Machine {
  readonly account = new FakeAccount();
  readonly folder = mkdtempSync(join(base, 'machine-'));
  readonly printed: string[] = [];
  readonly flags: Flags;
  readonly environment: string;
  release = RELEASE;
  /** Milestones that the deployed node is behind; one less with each look. */
  behind = 3;
  time = 0;

  constructor(flags: Flags = FLAGS, environment = '') {
    this.flags = flags;
    this.environment = environment;
  }

  /** What `npm run deploy` does. */
  async deploy(): Promise<string> {
    const deployment = await this.open();
    await runSteps(listSteps(deployment), deployment.print);
    return deployedUrl(deployment);
  }

  async open(): Promise<Deployment> {
    const { folder, account, environment } = this;
    const config = readWranglerConfig(WRANGLER_TOML, environment);
    const run = inEnvironment(environment, fakeDeployWrangler(account));
    const answers = await settleAnswers(
      this.flags,
      config,
      await findDeployed(run, config.databaseName),
      nobody,
    );
    const notes = openNotes(folder);
    return {
      ...{ config, environment, answers, run, folder },
      release: this.release,
      notes: {
        read: notes.read,
        write(version) {
          account.point();
          notes.write(version);
          account.point();
        },
      },
      openNode: () => this.node,
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

  /** The deployed Worker: 500 until there are settings and a ledger. */
  readonly node: NodeClient = async (path, { body, accept } = {}) => {
    const version = currentVersion(this.account, this.name);
    const isServing = version?.vars.UPSTREAM_URL && (await this.hasLedger());
    const serve = isServing ? fetchNode(60 - this.behind) : fetchFrom({ node: NO_LEDGER });
    return serve(path, {
      headers: accept === undefined ? {} : { accept },
      ...(body !== undefined && { method: 'POST', body }),
    });
  };

  get name(): string {
    return this.environment === '' ? NAME : `${NAME}-${this.environment}`;
  }

  get #database() {
    return this.account.databases.get(
      this.environment === '' ? 'stardust-ledger' : `stardust-ledger-${this.environment}`,
    )?.database;
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
    const titleOf = (id: string) => [...account.namespaces].find(([, each]) => each.id === id)?.[0];
    const nameOf = (id: string) => [...account.databases].find(([, each]) => each.id === id)?.[0];
    const entries = [...account.namespaces].map(([title, each]) => [
      title,
      [...each.entries.keys()].filter((key) => !key.startsWith('seal:')).sort(),
    ]);
    return {
      entries,
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
      noted: {
        ...openNotes(this.folder).read(),
        versionId: openNotes(this.folder).read()!.versionId === version.id,
      },
      leftOver: existsSync(join(this.folder, 'import')),
    };
  }
}

const NO_LEDGER = { readStatus: async () => undefined };

/** The recorded network at a milestone, which is just now. */
function fetchNode(index: number) {
  const { answer } = questionOf(network, 60);
  const { inclusionMerkleRoot, appliedMerkleRoot } = answer as Record<string, string>;
  const age = index === 60 ? 0 : 1000;
  return fetchFrom({
    node: {
      ...recordedNode(network, index),
      readStatus: async () => recordedStatus(network, index, Math.floor(Date.now() / 1000) - age),
      computeWhiteFlag: async () => ({
        ok: true,
        inclusionMerkleRoot: fromHex(inclusionMerkleRoot!),
        appliedMerkleRoot: fromHex(appliedMerkleRoot!),
        blocks: coneOf(network, 60).length,
        stages: {},
      }),
    },
  });
}

describe('a deployment', () => {
  it('leads from nothing to a verified node', async () => {
    const machine = new Machine();
    expect(await machine.deploy()).toBe(`https://${NAME}.example.workers.dev`);
    expect(await machine.ledgerHash()).toBe(HASH_A);
    expect(machine.printed.join('\n')).toContain('Milestone 60 is signed by 2 of the keys.');
    expect(await machine.state()).toMatchObject({
      databases: ['stardust-ledger'],
      hasTriggers: true,
      version: {
        tag: RELEASE.tag,
        vars: { UPSTREAM_URL: 'https://hornet.example', MILESTONE_THRESHOLD: '2' },
        namespaceId: `${NAME}-nft-index`,
        databaseId: 'stardust-ledger',
      },
      noted: { versionId: true },
      leftOver: false,
    });
    const [first] = machine.account.workers.get(NAME)!.versions;
    // it follows nothing while the snapshot is imported
    expect(first).toMatchObject({ tag: 'stores', vars: { UPSTREAM_URL: '' } });
  });

  it('goes on after a failure at any point, and ends in the same state', async () => {
    // a small ledger, as it is imported a hundred times
    const flags = { ...FLAGS, full: 'sample/snapshot-17338.bin', delta: undefined };
    const smooth = new Machine(flags);
    await smooth.deploy();
    const expected = await smooth.state();
    const { points } = smooth.account;
    expect(points).toBeGreaterThan(40);
    for (let failAt = 0; failAt < points; failAt++) {
      const machine = new Machine(flags);
      machine.account.failAt = failAt;
      await expect(machine.deploy(), `point ${failAt}`).rejects.toThrow('no connection');
      expect(await machine.deploy(), `point ${failAt}`).toBe(`https://${NAME}.example.workers.dev`);
      expect(await machine.state(), `point ${failAt}`).toEqual(expected);
    }
  });

  it('does nothing again that is done, and verifies each time', async () => {
    const machine = new Machine();
    await machine.deploy();
    const { versions } = machine.account.workers.get(NAME)!;
    const before = versions.length;
    machine.printed.length = 0;
    await machine.deploy();
    expect(versions).toHaveLength(before);
    expect(machine.printed.filter((line) => line.endsWith(': done before'))).toHaveLength(5);
    expect(machine.printed.at(-1)).toBe('The white flag answers the signed roots.');
  });
});
