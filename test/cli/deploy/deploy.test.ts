/**
 * `stardust-edge deploy`: from nothing to a verified node, whatever fails on the way. Wrangler and
 * the account at Cloudflare are stand-ins; the databases are SQLite, and what is imported is
 * recorded.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { unstable_readConfig } from 'wrangler';
import { findDeployed, NOTHING_DEPLOYED } from '../../../cli/deploy/find-deployed.ts';
import {
  type DeployOptions,
  type Flags,
  resolveOptions,
} from '../../../cli/deploy/resolve-options.ts';
import { runSteps } from '../../../cli/deploy/steps.ts';
import { listRemovals, remove } from '../../../cli/deploy/undeploy.ts';
import { writeConfig } from '../../../cli/deploy/wrangler-deploy.ts';
import { inEnvironment } from '../../../cli/lib/wrangler/run-wrangler.ts';
import { readWranglerConfig, WRANGLER_TOML } from '../../../cli/lib/wrangler/wrangler-config.ts';
import { SCHEMA } from '../../../src/ledger/core/head.ts';
import {
  FLAGS,
  fetchNode,
  Machine,
  NAME,
  network,
  nobody,
  TAG,
  withSecrets,
} from '../../support/cli/deploy-machine.ts';
import { currentVersion, type FakeAccount, fakeWrangler } from '../../support/cli/fake-account.ts';
import { temporaryFolder } from '../../support/cli/script-process.ts';

/** test/vectors/README.md */
const PARAMETERS_A = 'b2026ac2053616e947c5d1c56c27b5c3839ba6c97906579931ed022c6f22773b';
const HASH_A = '987f45404baa75ebb31617db0dda5458367b1da1a1bc2859a860c2498e796b9e';

/** Calls of wrangler that create something, or change anything. */
const CREATES = /^(?!deploy ).*(?:create|put|--file|apply)/;
const CHANGES = /create|put|--file|apply|deploy /;

/** A network that ended is one file, and follows nothing. */
const SHORT_FINAL = { network: 'iota-final', upstream: undefined, delta: undefined };

/** The full snapshot without its last byte. */
const temporary = temporaryFolder();
const cut = join(temporary, 'cut.bin');
writeFileSync(cut, readFileSync(FLAGS.full!).subarray(0, -1));

/** With a small ledger, for what is imported a hundred times. */
const SMALL = { ...FLAGS, full: 'sample/snapshot-17338.bin', delta: undefined };

/** A node whose ledger came with an import. */
const imported = (index: number) => fetchNode(index, index);

beforeEach(() => {
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
  // bars of progress
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
});
afterEach(() => void vi.restoreAllMocks());

/** Of the points at which a command may fail. */
const STEP = process.env.SLOW ? 1 : 7;

describe('a deployment', () => {
  it('leads from nothing to a verified node', async () => {
    const machine = new Machine();
    expect(await machine.deploy()).toBe(`https://${NAME}.example.workers.dev`);
    expect(await machine.ledgerHash()).toBe(HASH_A);
    expect(machine.printed.join('\n')).toMatch(
      /Milestone 60 of .* is signed by 2 of the keys that were given/,
    );
    expect(await machine.state()).toMatchObject({
      databases: ['stardust-ledger'],
      hasTriggers: true,
      version: {
        tag: TAG,
        vars: { UPSTREAM_URL: 'https://hornet.example', MILESTONE_THRESHOLD: '2' },
        namespaceId: `${NAME}-nft-index`,
        databaseId: 'stardust-ledger',
      },
      leftOver: false,
    });
    expect(machine.account.workers.get(NAME)!.versions).toHaveLength(1);
  });

  it('verifies as far as the routes are open that a first deployment opens', async () => {
    const machine = new Machine();
    await machine.deploy();
    expect(machine.printed.join('\n')).toMatch(/Milestone 60 of .* is signed by 2 of the keys/);
    const closed = (status: number) =>
      `Not checked: what it answers a coordinator, as /api/core/v2/whiteflag is ${status} here.`;
    expect(machine.printed.at(-1)).toBe(closed(403));
    machine.flags = withSecrets({ API_TOKEN: 'word' });
    await machine.deploy();
    expect(machine.printed.at(-1)).toBe(closed(401));
    machine.flags = withSecrets({ API_USER: 'anna', API_PASSWORD: 'word' });
    await machine.deploy();
    expect(machine.printed.at(-1)).toBe(
      'Asked as a coordinator asks, the node answers the signed roots.',
    );
  });

  it('gives up where it may not verify, although milestones come', async () => {
    const machine = new Machine({ ...FLAGS, ...withSecrets({ API_TOKEN: 'word' }) });
    machine.flags.var = ['PROTECTED_ROUTES:*/whiteflag*'];
    let requests = 0;
    machine.serve = () => {
      if (requests++ > 1000) throw new Error('it waits without an end');
      // young, and another one at each look
      return imported(58 + (Math.floor(requests / 2) % 2));
    };
    await expect(machine.deploy()).rejects.toThrow(
      /is healthy and cannot be verified: \/api\/edge\/v1\/whiteflag\/\d+ is 401: give --url/,
    );
  });

  it('does not print the password that a URL has', async () => {
    const machine = new Machine({ ...SMALL, url: 'https://anna:secret@edge.example/' });
    expect(await machine.deploy()).toBe('https://edge.example');
    expect(machine.printed.join()).not.toContain('secret');
  });

  it.each(['', 'staging'])('wrangler finds the files of the project: "%s"', (environment) => {
    const pathsOf = (config: string) => {
      const read = unstable_readConfig({ config, env: environment }, { hideWarnings: true });
      const paths = [read.main, read.assets?.directory, read.d1_databases[0]?.migrations_dir];
      return paths.map((path) => resolve(dirname(config), path!));
    };
    const written = writeConfig(join(temporary, `deploy-${environment}`), environment, 'id');
    expect(pathsOf(written)).toEqual(pathsOf(WRANGLER_TOML));
  });

  it('goes on after a failure at any point, and ends in the same state', async () => {
    const smooth = new Machine(SMALL);
    await smooth.deploy();
    const expected = await smooth.state();
    const { points } = smooth.account;
    expect(points).toBeGreaterThan(30);
    for (let failAt = 0; failAt < points; failAt += STEP) {
      const machine = new Machine(SMALL);
      machine.account.failAt = failAt;
      await expect(machine.deploy(), `point ${failAt}`).rejects.toThrow('no connection');
      expect(await machine.deploy(), `point ${failAt}`).toBe(`https://${NAME}.example.workers.dev`);
      expect(await machine.state(), `point ${failAt}`).toEqual(expected);
    }
  });

  it('creates and imports nothing again, and verifies each time', async () => {
    const machine = new Machine();
    await machine.deploy();
    const before = await machine.state();
    machine.account.calls.length = 0;
    machine.printed.length = 0;
    await machine.deploy();
    expect(machine.printed.filter((line) => line.endsWith(': done before'))).toHaveLength(3);
    expect(machine.printed.at(-1)).toMatch(/^Not checked: .*whiteflag is 403 here\.$/);
    expect(machine.account.calls.filter((call) => CREATES.test(call))).toEqual([]);
    expect(await machine.state()).toEqual(before);
  });

  it('refuses the keys of another network than the deployed ledger has', async () => {
    const machine = new Machine(SMALL);
    await machine.deploy();
    machine.account.calls.length = 0;
    machine.flags = { network: 'iota-final' };
    await expect(machine.deploy()).rejects.toThrow(
      'the ledger is of network shimmer, but --network iota-final is of iota-mainnet',
    );
    expect(machine.account.calls.filter((call) => CHANGES.test(call))).toEqual([]);
  });

  it('deploys the next release with the settings and secrets that are there', async () => {
    const machine = new Machine({ ...FLAGS, ...withSecrets({ API_TOKEN: 'first' }) });
    machine.flags.var = ['PROTECTED_ROUTES:*/tips', 'RETENTION_MILESTONES: 100\r\n'];
    machine.serve = () => fetchNode(60);
    await machine.deploy();
    machine.flags = {};
    machine.tag = 'next';
    await machine.deploy();
    expect(currentVersion(machine.account, NAME)).toMatchObject({
      tag: 'next',
      vars: {
        UPSTREAM_URL: 'https://hornet.example',
        PROTECTED_ROUTES: '*/tips',
        RETENTION_MILESTONES: '100',
      },
      secrets: { API_TOKEN: 'first' },
    });
  });

  it('creates the stores where the flags say, and serves at the domain', async () => {
    const flags = { ...FLAGS, location: 'weur', domain: 'edge.example' };
    const machine = new Machine(flags);
    expect(await machine.deploy()).toBe('https://edge.example');
    expect(machine.account.workers.get(NAME)!.domain).toBe('edge.example');
    expect(machine.account.calls).toContain('d1 create stardust-ledger --location weur --env=');
    const other = new Machine({ ...FLAGS, jurisdiction: 'eu' });
    await other.deploy();
    expect(other.account.calls).toContain('d1 create stardust-ledger --jurisdiction eu --env=');
    expect(other.account.calls).toContain(
      `kv namespace create ${NAME}-nft-index --jurisdiction eu --env=`,
    );
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
    // as a release does it
    staging.flags = {};
    await staging.deploy();
  });

  it('uses stores that are there, in staging too', async () => {
    const machine = new Machine(FLAGS, 'staging');
    const id = machine.account.createNamespace(`${NAME}-staging-nft-index`);
    machine.account.createDatabase('stardust-ledger-staging');
    await machine.deploy();
    expect(currentVersion(machine.account, `${NAME}-staging`)!.namespaceId).toBe(id);
    expect(machine.account.namespaces.size + machine.account.databases.size).toBe(2);
  });

  it('creates no namespace beside one that wrangler.toml names and the account lacks', async () => {
    const { account, folder } = new Machine();
    const named = { ...readWranglerConfig(), namespaceId: 'other' };
    const run = inEnvironment('', fakeWrangler(account));
    const parts = { config: named, environment: '', run, folder, tag: TAG, print: () => {} };
    const clock = { now: () => 0, sleep: async () => {} };
    const deployment = { ...parts, openNodeClient: () => fetchNode(60), clock };
    await expect(
      runSteps(deployment, NOTHING_DEPLOYED, { vars: {} } as DeployOptions),
    ).rejects.toThrow('no KV namespace other, which wrangler.toml names');
    expect(account.namespaces.size).toBe(0);
  });

  it('follows nothing where that is said, whatever wrangler.toml names', async () => {
    const machine = new Machine();
    await machine.deploy();
    const known = readWranglerConfig();
    const config = { ...known, vars: { ...known.vars, UPSTREAM_URL: 'http://old.example' } };
    const asked: string[] = [];
    const inAccount = inEnvironment('', fakeWrangler(machine.account));
    const run: typeof inAccount = (args, ...more) => {
      asked.push(...args);
      return inAccount(args, ...more);
    };
    const { folder } = machine;
    const parts = { config, environment: '', run, folder, tag: 'next', print: () => {} };
    const clock = { now: () => 0, sleep: async () => {} };
    const deployment = { ...parts, openNodeClient: () => machine.node, clock };
    const found = await findDeployed(run, config);
    const options = await resolveOptions({ upstream: '' }, config, found, nobody);
    await runSteps(deployment, found, options);
    expect(asked).toContain('UPSTREAM_URL:');
    expect(asked).not.toContain('PROTECTED_ROUTES:');
  });

  it('does not verify where nothing is followed, and says so', async () => {
    const machine = new Machine({ ...FLAGS, upstream: '' });
    const { index } = network.genesis;
    machine.serve = () => imported(index + 1);
    await machine.deploy();
    expect(machine.printed.at(-1)).toMatch(/^Not verified: .*: \S+\/whiteflag\/\d+ is 404$/);
    // one that applied it, long ago
    machine.serve = () => fetchNode(57);
    await machine.deploy();
    expect(machine.printed.at(-1)).toMatch(/^Not verified: .* milestone 57 is 1000 seconds old$/);
    // the empty answer is one: it is not asked for again
    machine.flags = {};
    await machine.deploy();
  });

  it('waits until the node has applied a milestone itself', async () => {
    const machine = new Machine();
    // as young as can be, and brought by the snapshot
    machine.serve = () => (machine.behind > 0 ? imported(59) : fetchNode(60));
    await machine.deploy();
    expect(machine.behind).toBe(0);
    expect(machine.printed.join()).toMatch(/Milestone 60 of .* is signed/);
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

  it('gives up where nobody may read info, and says so', async () => {
    const machine = new Machine({ ...FLAGS, var: ['PUBLIC_ROUTES:/health'] });
    await expect(machine.deploy()).rejects.toThrow(
      'The node is healthy and cannot be verified: /api/core/v2/info is 403',
    );
  });

  it('fails where the node does not verify', async () => {
    const machine = new Machine();
    machine.flags.var = [`MILESTONE_PUBLIC_KEYS:${'ab'.repeat(32)}`, 'MILESTONE_THRESHOLD:1'];
    machine.flags.delta = undefined;
    await expect(machine.deploy()).rejects.toThrow('milestone 60 is not signed by the keys');
  });

  it('upgrades a ledger that its migrations convert, and then deploys', async () => {
    const machine = new Machine(SMALL);
    machine.serve = () => fetchNode(60);
    await machine.deploy();
    const { database } = machine.account.databases.get('stardust-ledger')!;
    database.exec(`UPDATE head SET schema = 2, sum = sum - 1;
      DELETE FROM d1_migrations WHERE name = '0004_rests.sql'`);
    machine.flags = {};
    machine.tag = 'next';
    expect((await machine.dryRun())[1]).toBe('tables: apply the migrations to D1');
    await machine.deploy();
    expect(await database.prepare('SELECT schema FROM head').first()).toEqual({ schema: SCHEMA });
    expect(currentVersion(machine.account, NAME)!.tag).toBe('next');
  });

  it('deploys nothing where the migrations leave a ledger that it does not read', async () => {
    const machine = new Machine(SMALL);
    machine.serve = () => fetchNode(60);
    await machine.deploy();
    machine.account.databases.get('stardust-ledger')!.database.exec(`UPDATE head SET schema = 1;
      DELETE FROM d1_migrations WHERE name = '0004_rests.sql'`);
    machine.tag = 'next';
    await expect(machine.deploy()).rejects.toThrow('ledger schema 1 is not supported');
    expect(machine.account.workers.get(NAME)!.versions).toHaveLength(1);
  });

  it('does not touch a ledger that another version wrote', async () => {
    const machine = new Machine();
    await machine.deploy();
    machine.account.databases.get('stardust-ledger')!.database.exec('UPDATE head SET schema = 9');
    machine.account.calls.length = 0;
    await expect(machine.deploy()).rejects.toThrow('ledger schema 9 is not supported');
    expect(machine.account.calls.filter((call) => CHANGES.test(call))).toEqual([]);
  });
});

describe('before Time Travel', () => {
  it('binds an empty namespace to the Worker that is stopped', async () => {
    const machine = new Machine();
    await machine.deploy();
    const { account } = machine;
    const { namespaceId } = currentVersion(account, NAME)!;
    const { database } = account.databases.get('stardust-ledger')!;
    database.exec('UPDATE head SET schema = 0');
    account.namespaces.delete(`${NAME}-nft-index`);
    account.namespaces.set('old', namespaceId);
    machine.flags = {};
    await machine.deploy();
    const bound = currentVersion(account, NAME)!.namespaceId;
    expect([...account.namespaces]).toEqual([
      ['old', namespaceId],
      [`${NAME}-nft-index`, bound],
    ]);
    expect(bound).not.toBe(namespaceId);
    expect(await database.prepare('SELECT schema FROM head').first()).toEqual({ schema: 0 });
  });
});

describe('--dry-run', () => {
  const NOTHING = { workers: new Map(), namespaces: new Map(), databases: new Map() };

  it('says what would be done, asks nothing and changes nothing', async () => {
    const machine = new Machine({});
    const printed = await machine.dryRun();
    expect(printed).toHaveLength(7);
    expect(printed[0]).toBe(`D1 and KV: create D1 stardust-ledger and KV ${NAME}-nft-index`);
    expect(printed[3]).toBe(`Worker: deploy ${NAME} ${TAG} with its settings and secrets`);
    expect(printed[6]).toBe('Not all is checked: a deployment would ask for --network.');
    expect(machine.checked).toBe(false);
    expect(machine.account).toMatchObject(NOTHING);
  });

  it('reads the files, and prints which ledger they hold', async () => {
    const machine = new Machine({ ...FLAGS, ...withSecrets({ API_TOKEN: 'hidden' }) });
    const printed = await machine.dryRun();
    expect(printed).toContain('  UPSTREAM_URL=https://hornet.example');
    expect(printed).toContain('  API_TOKEN, a secret');
    expect(printed.join()).not.toContain('hidden');
    expect(printed).toContain(`  network       ${network.genesis.parameters.networkName}`);
    // test/vectors/README.md
    expect(printed).toContain('  ledger index  81');
    expect(printed).toContain(`  state hash    ${HASH_A}`);
    // as an import of the same files prints it
    expect(printed).toContain(`  parameters    ${PARAMETERS_A}`);
    const sha256 = createHash('sha256').update(readFileSync(FLAGS.full!)).digest('hex');
    expect(printed).toContain(`  SHA-256       ${sha256}`);
    expect(machine.checked).toBe(true);
    expect(machine.account).toMatchObject(NOTHING);
  });

  it.each<[string, Flags, string]>([
    ['a setting', { var: ['SERVER_TIMING:x'] }, 'SERVER_TIMING must'],
    ['another file than the published one', SHORT_FINAL, 'expected 972e4dad'],
    [
      'keys that did not sign',
      { network: undefined, keys: 'ab'.repeat(32) },
      'may not sign milestone 1',
    ],
    ['a file that is cut', { full: cut, delta: undefined }, 'offset'],
    ['a setting without a network', { network: undefined, var: ['SERVER_TIMING:x'] }, 'must'],
    [
      'an unknown setting without a network',
      { network: undefined, var: ['X:1'] },
      '--var X: the form is',
    ],
    ['a missing file without a network', { network: undefined, full: '/nowhere' }, 'no such file'],
  ])('refuses %s', async (_what, flags, message) => {
    const machine = new Machine({ ...FLAGS, ...flags });
    await expect(machine.dryRun()).rejects.toThrow(message);
    expect(machine.account).toMatchObject(NOTHING);
  });

  it('sees what is done', async () => {
    const machine = new Machine();
    await machine.deploy();
    const printed = await machine.dryRun();
    const done = ['D1 and KV', 'tables', 'ledger'].map((name) => `${name}: done before`);
    expect(printed.slice(0, 3)).toEqual(done);
    expect(printed.filter((line) => line.endsWith(': done before'))).toEqual(done);
    expect(printed.at(-1)).not.toMatch(/SHA-256/);
    expect(machine.account.workers.get(NAME)!.versions).toHaveLength(1);
  });
});

describe('undeploy', () => {
  const config = readWranglerConfig();
  const runOn = (account: FakeAccount) => inEnvironment('', fakeWrangler(account));

  it('lists what there is, removes it, and leaves nothing, staging aside', async () => {
    const { account } = await deployed();
    await new Machine(FLAGS, 'staging', account).deploy();
    const run = runOn(account);
    const removals = await listRemovals(run, config);
    expect(removals.map(({ what }) => what)).toEqual([
      expect.stringContaining(`Worker ${NAME},`),
      expect.stringContaining('D1 stardust-ledger,'),
      expect.stringContaining(`KV ${NAME}-nft-index,`),
    ]);
    await remove(run, config, removals);
    expect([...account.workers.keys()]).toEqual([`${NAME}-staging`]);
    expect([...account.databases.keys()]).toEqual(['stardust-ledger-staging']);
    expect([...account.namespaces.keys()]).toEqual([`${NAME}-staging-nft-index`]);
    expect(await listRemovals(run, config)).toEqual([]);
  });

  it('sees by its ID that a namespace is gone that wrangler.toml names', async () => {
    const { account } = await deployed();
    const namespaceId = account.namespaces.get(`${NAME}-nft-index`)!;
    const named = { ...config, namespaceId };
    const other = account.createNamespace('another');
    const removals = await listRemovals(runOn(account), { ...named, namespaceId: other });
    expect(removals.at(-1)!.what).toMatch(/^KV another,/);
    account.namespaces.delete('another');
    await remove(runOn(account), named, await listRemovals(runOn(account), named));
    expect(account.namespaces.size).toBe(0);
  });

  it('fails if anything is left', async () => {
    const { account } = await deployed();
    await expect(remove(runOn(account), config, [])).rejects.toThrow('Not removed: Worker');
  });

  it('removes the rest after a failure at any point', async () => {
    for (let failAt = 0; ; failAt += STEP) {
      const { account } = await deployed();
      const run = runOn(account);
      const removeAll = async () => remove(run, config, await listRemovals(run, config));
      account.failAt = account.points + failAt;
      const error: unknown = await removeAll().catch((thrown: unknown) => thrown);
      if (error !== undefined) expect(error).toMatchObject({ message: 'no connection' });
      account.failAt = Number.POSITIVE_INFINITY;
      await removeAll();
      expect(account.workers.size + account.databases.size + account.namespaces.size).toBe(0);
      if (error !== undefined) continue;
      expect(failAt).toBeGreaterThan(15);
      break;
    }
  });
});

async function deployed(): Promise<Machine> {
  const machine = new Machine(SMALL);
  await machine.deploy();
  return machine;
}
