/**
 * `npm run deploy`: from nothing to a verified node, whatever fails on the way. Wrangler and the
 * account at Cloudflare are stand-ins; the databases are SQLite, and what is imported is recorded.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { describeSteps } from '../../scripts/deploy/run-steps.ts';
import { listSteps } from '../../scripts/deploy/steps.ts';
import { recordedNode, recordedStatus } from '../support/http/recorded-node.ts';
import { fetchFrom } from '../support/http/stub-node.ts';
import {
  FLAGS,
  fetchNode,
  Machine,
  NAME,
  network,
  RELEASE,
  withSecrets,
} from '../support/scripts/deploy-machine.ts';
import { currentVersion } from '../support/scripts/fake-account.ts';

/** test/vectors/README.md */
const HASH_A = '987f45404baa75ebb31617db0dda5458367b1da1a1bc2859a860c2498e796b9e';

/** A node whose ledger an import has brought. */
function imported(index: number) {
  const status = recordedStatus(network, index, Math.floor(Date.now() / 1000));
  return {
    ...recordedNode(network, index),
    readStatus: async () => ({ ...status, pruningIndex: index - 1 }),
    explainMilestone: async () => undefined,
  };
}

beforeEach(() => {
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
  // bars of progress
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
});
afterEach(() => void vi.restoreAllMocks());

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

  it('deploys the next release with the settings and secrets that are there', async () => {
    const machine = new Machine({ ...FLAGS, ...withSecrets({ API_TOKEN: 'first' }) });
    machine.flags.var = ['PROTECTED_ROUTES:*/whiteflag*', 'RETENTION_MILESTONES:100'];
    machine.serve = () => fetchNode(60);
    await machine.deploy();
    machine.flags = {};
    machine.release = { ...RELEASE, tag: 'next' };
    await machine.deploy();
    expect(currentVersion(machine.account, NAME)).toMatchObject({
      tag: 'next',
      vars: {
        UPSTREAM_URL: 'https://hornet.example',
        PROTECTED_ROUTES: '*/whiteflag*',
        RETENTION_MILESTONES: '100',
      },
      secrets: { API_TOKEN: 'first' },
    });
  });

  it.each<[string, (machine: Machine) => void]>([
    ['another setting', ({ flags }) => Object.assign(flags, { var: ['SERVER_TIMING:true'] })],
    ['a secret', ({ flags }) => Object.assign(flags, withSecrets({ UPSTREAM_TOKEN: 'a' }))],
    [
      'code that no commit names',
      (machine) => Object.assign(machine, { release: { ...RELEASE, isExact: false } }),
    ],
    [
      'a version that somebody rolled back',
      ({ account }) => {
        const { versions } = account.workers.get(NAME)!;
        versions.push({ ...versions[0]!, id: 'older' });
      },
    ],
    [
      'triggers that are missing after an interrupted deployment of the same',
      ({ account }) => {
        const { versions } = account.workers.get(NAME)!;
        versions.push({ ...versions.at(-1)!, id: 'without triggers' });
      },
    ],
  ])('deploys again for %s', async (_what, change) => {
    const machine = new Machine();
    await machine.deploy();
    const before = machine.account.workers.get(NAME)!.versions.length;
    change(machine);
    const changed = machine.account.workers.get(NAME)!.versions.length;
    await machine.deploy();
    expect(machine.account.workers.get(NAME)!.versions).toHaveLength(changed + 1);
    expect(changed).toBeGreaterThanOrEqual(before);
    expect(currentVersion(machine.account, NAME)!.vars.UPSTREAM_URL).toBe('https://hornet.example');
  });

  it('puts staging beside production', async () => {
    const machine = new Machine();
    await machine.deploy();
    const production = currentVersion(machine.account, NAME);
    const staging = new Machine(FLAGS, 'staging', machine.account);
    expect(await staging.deploy()).toBe(`https://${NAME}-staging.example.workers.dev`);
    expect([...machine.account.databases.keys()]).toEqual([
      'stardust-ledger',
      'stardust-ledger-staging',
    ]);
    expect([...machine.account.namespaces.keys()]).toEqual([
      `${NAME}-nft-index`,
      `${NAME}-staging-nft-index`,
    ]);
    expect(currentVersion(machine.account, NAME)).toBe(production);
  });

  it('connects a namespace that an interrupted deployment made, in staging too', async () => {
    const machine = new Machine(FLAGS, 'staging');
    const id = machine.account.createNamespace(`${NAME}-staging-nft-index`);
    await machine.deploy();
    expect(currentVersion(machine.account, `${NAME}-staging`)!.namespaceId).toBe(id);
    expect(machine.account.namespaces.size).toBe(1);
  });

  it('does not verify where nothing is followed, and says so', async () => {
    const machine = new Machine({ ...FLAGS, upstream: '' });
    const { index } = network.genesis;
    machine.serve = () => fetchFrom({ node: imported(index + 1) });
    await machine.deploy();
    expect(machine.printed.at(-1)).toMatch(/^Not verified: /);
    // the empty answer is one: it is not asked for again
    machine.flags = {};
    await machine.deploy();
  });

  it('waits until the node has applied a milestone itself', async () => {
    const machine = new Machine();
    // as young as can be, and brought by the snapshot
    machine.serve = () => (machine.behind > 0 ? fetchFrom({ node: imported(59) }) : fetchNode(60));
    await machine.deploy();
    expect(machine.behind).toBe(0);
    expect(machine.printed.join()).toContain('Milestone 60 is signed');
  });

  it('gives up waiting when nothing changes, with the reason, and goes on later', async () => {
    const machine = new Machine();
    machine.serve = () => fetchNode(57);
    await expect(machine.deploy()).rejects.toThrow(
      'does not become healthy: the ledger at milestone 57 is 1000 seconds old',
    );
    expect(machine.time).toBeGreaterThan(10 * 60_000);
    machine.serve = () => fetchNode(60);
    await machine.deploy();
  });

  it('fails where the node does not verify', async () => {
    const machine = new Machine();
    machine.flags.var = [`MILESTONE_PUBLIC_KEYS:${'ab'.repeat(32)}`, 'MILESTONE_THRESHOLD:1'];
    machine.flags.delta = undefined;
    await expect(machine.deploy()).rejects.toThrow('milestone 60 is not signed by the keys');
  });

  it('does not touch a ledger that another version wrote', async () => {
    const machine = new Machine();
    await machine.deploy();
    machine.account.databases.get('stardust-ledger')!.database.exec('UPDATE head SET schema = 9');
    const { points } = machine.account;
    await expect(machine.deploy()).rejects.toThrow('ledger schema 9 is not supported');
    // it asked two questions
    expect(machine.account.points - points).toBeLessThan(10);
  });
});

describe('--dry-run', () => {
  it('says what would be done, and changes nothing', async () => {
    const machine = new Machine();
    const lines = await describeSteps(listSteps(await machine.open()));
    expect(lines).toHaveLength(6);
    expect(lines[0]).toBe(
      `1. Worker, D1 and KV: deploy ${NAME} without settings, for which wrangler makes the stores`,
    );
    expect(lines[3]).toMatch(
      /^4\. .*: unless it is done then, deploy .*-abc1234 with settings UPSTREAM_URL, MILESTONE_/,
    );
    expect(machine.account.workers.size + machine.account.namespaces.size).toBe(0);
    expect(existsSync(join(machine.folder, 'deployed.json'))).toBe(false);
  });

  it('sees what is done', async () => {
    const machine = new Machine();
    await machine.deploy();
    const { versions } = machine.account.workers.get(NAME)!;
    const before = versions.length;
    machine.release = { ...RELEASE, tag: 'next' };
    const lines = await describeSteps(listSteps(await machine.open()));
    expect(lines.map((line) => line.endsWith(': done before'))).toEqual([
      ...[true, true, true],
      ...[false, false, false],
    ]);
    expect(versions).toHaveLength(before);
  });
});
