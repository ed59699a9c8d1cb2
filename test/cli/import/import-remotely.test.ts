/**
 * `stardust-edge import --remote`: what reaches the deployed stores, after whatever happened on the
 * way.
 */
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { importRemotely } from '../../../cli/lib/import/import-remotely.ts';
import {
  migrate,
  openLocalDatabase,
  persistPath,
} from '../../../cli/lib/wrangler/local-database.ts';
import {
  inEnvironment,
  type RunWrangler,
  runWrangler,
} from '../../../cli/lib/wrangler/run-wrangler.ts';
import { readWranglerConfig } from '../../../cli/lib/wrangler/wrangler-config.ts';
import { LedgerDamaged } from '../../../src/ledger/core/checksum.ts';
import type { Database } from '../../../src/ledger/core/database.ts';
import { readHead, SCHEMA } from '../../../src/ledger/core/head.ts';
import { ledgerStateHash } from '../../../src/ledger/read/ledger-state-hash.ts';
import { openIndexLedger } from '../../../src/nft-index/d1-ledger.ts';
import { FakeAccount, fakeWrangler } from '../../support/cli/fake-account.ts';
import { temporaryFolder, unpackVector } from '../../support/cli/script-process.ts';
import { dump, openMemory, schema } from '../../support/ledger/memory-database.ts';
import { countRests, strayRests } from '../../support/ledger/stray-rests.ts';
import { deltaSnapshot, fullSnapshot } from '../../support/network/network-snapshot.ts';
import { randomNetwork } from '../../support/network/random-network.ts';
import { stateHashAt } from '../../support/network/state-hash-at.ts';

const folder = temporaryFolder();
const config = readWranglerConfig();

function filesOf(network: string) {
  const [full, delta] = ['full', 'delta'].map((kind) =>
    unpackVector(folder, `${network}/${kind}_snapshot.bin`),
  );
  return { full: full!, delta: delta!, keys: undefined, mayReplace: async () => true };
}

const NETWORK_A = filesOf('network-a');
const NETWORK_C = filesOf('network-c');

/** test/vectors/README.md */
const HASH_A = '987f45404baa75ebb31617db0dda5458367b1da1a1bc2859a860c2498e796b9e';
const HASH_C = '3a0ad6b5f3b8b8018be60c3e0c2247c2fa5b9745ae5fac1e7f5470cf0e9dcd7d';

/** So small that everything takes several files. */
const MAX_FILE = 20_000;

const print = vi.spyOn(console, 'log').mockImplementation(() => undefined);
vi.spyOn(console, 'warn').mockImplementation(() => undefined);

const hashOf = async (db: Database) => (await ledgerStateHash(db)).toHex();

function workFolder(): string {
  return mkdtempSync(join(folder, 'work-'));
}

/** What is deployed, and wrangler. */
class Deployed {
  readonly account = new FakeAccount();
  readonly run = inEnvironment('', fakeWrangler(this.account));

  /** @param path file of the deployed database */
  constructor(path?: string) {
    const { workerName, databaseName, namespaceTitle } = config;
    this.account.upload(workerName, {
      ...{ id: '', tag: undefined, vars: {}, secrets: {} },
      namespaceId: this.account.createNamespace(namespaceTitle),
      databaseId: this.account.createDatabase(databaseName, path),
    });
    this.account.points = 0;
  }

  get database() {
    return this.account.databases.get(config.databaseName)!.database;
  }

  get calls() {
    return this.account.calls;
  }
}

describe('upload', () => {
  it('ends in the ledger that the files hold, with its index left to the publisher', async () => {
    const wrangler = new Deployed();
    const work = workFolder();
    await importRemotely(NETWORK_A, config, wrangler.run, work, MAX_FILE);
    expect(await hashOf(wrangler.database)).toBe(HASH_A);
    expect(print).toHaveBeenCalledWith(`state hash    ${HASH_A}`);
    expect(await schema(wrangler.database)).toEqual(await schema(await openMemory()));

    const { nft, output_detail: listed } = (await dump(wrangler.database)) as {
      nft: { id: string; output: string }[];
      output_detail: { output: Uint8Array }[];
    };
    expect(nft).toHaveLength(60);
    expect(listed.map(({ output }) => output.toHex()).sort()).toEqual(
      nft.map(({ output }) => output).sort(),
    );
    // a bulk put does not tell which keys were not written
    expect(wrangler.calls.filter((call) => call.startsWith('kv'))).toEqual([]);
    expect((await openIndexLedger(wrangler.database).readState()).stored?.state).toBe(undefined);

    expect(existsSync(work)).toBe(false);
    const files = wrangler.calls.filter(
      (call) => call === 'd1 execute stardust-ledger --remote --yes --file --env=',
    ).length;
    expect(files).toBeGreaterThan(4);
  });

  it('brings long contents whole', async () => {
    const wrangler = new Deployed();
    const network = randomNetwork({ seed: 'long contents', milestones: 8, events: 45 });
    const write = (name: string, parts: Iterable<Uint8Array>) => {
      const path = join(folder, name);
      writeFileSync(path, Buffer.concat([...parts]));
      return path;
    };
    // NFTs that the delta moves are in both
    const full = write('long-full.bin', fullSnapshot(network, { target: 4 }));
    const delta = write('long-delta.bin', deltaSnapshot(network, 4, 8));
    const files = { ...NETWORK_A, full, delta };
    await importRemotely(files, config, wrangler.run, workFolder(), MAX_FILE);
    const { database } = wrangler;
    expect(await countRests(database)).toBeGreaterThan(0);
    expect(await strayRests(database)).toEqual([]);
    expect(await hashOf(database)).toBe(await stateHashAt(network, 8));
  });

  it('goes on after a failure of any call, before or after it was done, and serves one ledger or the other all the time', async () => {
    const whole = new Deployed();
    await importRemotely(NETWORK_A, config, whole.run, workFolder(), MAX_FILE);
    const expected = { ...(await dump(whole.database)), head: 0, nft_index: 0 };
    // where each import begins: network-c is deployed, and network-a was loaded on this machine,
    // as nothing is asked of wrangler before that
    const deployed = join(folder, 'deployed-c.sqlite');
    const before = new Deployed(deployed);
    await importRemotely(NETWORK_C, config, before.run, workFolder());
    before.database.close();
    const loaded = workFolder();
    const offline = () => Promise.reject(new Error('no connection'));
    await expect(importRemotely(NETWORK_A, config, offline, loaded, MAX_FILE)).rejects.toThrow();
    // before and after each call
    for (let failAt = 0; failAt < whole.account.points; failAt++) {
      const work = workFolder();
      cpSync(loaded, work, { recursive: true });
      const path = `${work}.sqlite`;
      copyFileSync(deployed, path);
      const wrangler = new Deployed(path);
      wrangler.account.failAt = failAt;
      await expect(importRemotely(NETWORK_A, config, wrangler.run, work, MAX_FILE)).rejects.toThrow(
        'no connection',
      );
      expect([HASH_A, HASH_C]).toContain(await hashOf(wrangler.database));
      await importRemotely(NETWORK_A, config, wrangler.run, work, MAX_FILE);
      expect(await hashOf(wrangler.database)).toBe(HASH_A);
      const is = { ...(await dump(wrangler.database)), head: 0, nft_index: 0 };
      expect(is).toEqual(expected);
      wrangler.database.close();
    }
  });

  it('does not upload again what was uploaded', async () => {
    const wrangler = new Deployed();
    const work = workFolder();
    // before the seventh call
    wrangler.account.failAt = 12;
    await importRemotely(NETWORK_A, config, wrangler.run, work, MAX_FILE).catch(() => undefined);
    const smooth = new Deployed();
    await importRemotely(NETWORK_A, config, smooth.run, workFolder(), MAX_FILE);
    await importRemotely(NETWORK_A, config, wrangler.run, work, MAX_FILE);
    // migrations and two questions come again, and the call that failed
    expect(wrangler.calls).toHaveLength(smooth.calls.length + 4);
  });

  it('asks, when it is called again, about a ledger that became newer during the upload', async () => {
    const wrangler = new Deployed();
    const work = workFolder();
    await importRemotely(NETWORK_A, config, wrangler.run, work, MAX_FILE);
    const { generation } = (await readHead(wrangler.database))!;
    const following: RunWrangler = async (args, env) => {
      if (args.at(-1)?.endsWith('replace.sql'))
        await wrangler.database.prepare('UPDATE head SET ledger = ledger + 1').run();
      return wrangler.run(args, env);
    };
    const asked = vi.fn(async () => false);
    const request = { ...NETWORK_A, mayReplace: asked };
    await expect(importRemotely(request, config, following, work, MAX_FILE)).rejects.toMatchObject({
      message: expect.stringMatching(
        RegExp(`^nothing was replaced: .*${work}/upload.json.* give the same command again$`),
      ),
      cause: { message: expect.stringContaining('CHECK constraint failed') },
    });
    expect(asked).not.toHaveBeenCalled();
    await expect(importRemotely(request, config, wrangler.run, work, MAX_FILE)).rejects.toThrow(
      'the ledger at milestone 82 is to be replaced by an older one, at 81: nothing was replaced',
    );
    expect(asked).toHaveBeenCalledOnce();
    expect(await wrangler.database.prepare('SELECT generation FROM head').first('generation')).toBe(
      generation,
    );
  });

  it('uploads nothing to tables of a newer release', async () => {
    const wrangler = new Deployed();
    await migrate(wrangler.database);
    wrangler.database.exec("INSERT INTO d1_migrations (name) VALUES ('9999_late.sql')");
    const before = await dump(wrangler.database);
    await expect(
      importRemotely(NETWORK_A, config, wrangler.run, workFolder(), MAX_FILE),
    ).rejects.toThrow('stardust-ledger is of a newer release: import with that one');
    expect(await dump(wrangler.database)).toEqual(before);
  });

  it('keeps what a newer release brings during the upload', async () => {
    const wrangler = new Deployed();
    const migrating: RunWrangler = async (args, env) => {
      if (args.at(-1)?.endsWith('replace.sql'))
        wrangler.database.exec(
          `ALTER TABLE follower ADD COLUMN late TEXT;
           INSERT INTO d1_migrations (name) VALUES ('9999_late.sql')`,
        );
      return wrangler.run(args, env);
    };
    await expect(
      importRemotely(NETWORK_A, config, migrating, workFolder(), MAX_FILE),
    ).rejects.toThrow('its tables are of another release');
    const late = wrangler.database.prepare('SELECT late FROM follower');
    expect((await late.all()).results).toBeDefined();
    expect(await readHead(wrangler.database)).toBeUndefined();
  });

  it('says so where an earlier call had replaced the ledger', async () => {
    const wrangler = new Deployed();
    const work = workFolder();
    const failing: RunWrangler = async (args, env) => {
      const told = await wrangler.run(args, env);
      if (args.at(-1)?.endsWith('replace.sql')) throw new Error('no connection');
      return told;
    };
    await expect(importRemotely(NETWORK_A, config, failing, work, MAX_FILE)).rejects.toThrow(
      'no c',
    );
    print.mockClear();
    await importRemotely(NETWORK_A, config, wrangler.run, work, MAX_FILE);
    expect(print).toHaveBeenLastCalledWith(expect.stringContaining('nothing was uploaded'));
    await importRemotely(NETWORK_A, config, wrangler.run, work, MAX_FILE);
    expect(print).toHaveBeenLastCalledWith(expect.stringContaining('parameters'));
  });

  it('begins again where a power failure has cut the note', async () => {
    const wrangler = new Deployed();
    const work = workFolder();
    // before the seventh call
    wrangler.account.failAt = 12;
    await importRemotely(NETWORK_A, config, wrangler.run, work, MAX_FILE).catch(() => undefined);
    writeFileSync(join(work, 'upload.json'), '');
    await importRemotely(NETWORK_A, config, wrangler.run, work, MAX_FILE);
    expect(await hashOf(wrangler.database)).toBe(HASH_A);
  });

  it('begins again where what was loaded is damaged', async () => {
    const work = workFolder();
    const offline = () => Promise.reject(new Error('no connection'));
    const call = () => importRemotely(NETWORK_A, config, offline, work);
    await expect(call()).rejects.toThrow('no connection');
    const db = await openLocalDatabase(work, config);
    db.exec('UPDATE output SET created = created + 1');
    db.close();
    await expect(call()).rejects.toThrow(LedgerDamaged);
    await expect(call()).rejects.toThrow('no connection');
  });

  it.each([
    [
      'of another ledger, as a power failure may leave it',
      (work: string, other: string) => {
        cpSync(persistPath(other), persistPath(work), { recursive: true });
      },
    ],
    [
      'gone, as a kill at the end may leave it',
      (work: string) => {
        rmSync(persistPath(work), { recursive: true });
      },
    ],
  ])("loads the files again where the folder's database is %s", async (_, change) => {
    const wrangler = new Deployed();
    const [work, other] = [workFolder(), workFolder()];
    const offline = () => Promise.reject(new Error('no connection'));
    for (const [request, folder] of [
      [NETWORK_A, work],
      [NETWORK_C, other],
    ] as const)
      await expect(importRemotely(request, config, offline, folder)).rejects.toThrow('connection');
    change(work, other);
    await importRemotely(NETWORK_A, config, wrangler.run, work, MAX_FILE);
    expect(await hashOf(wrangler.database)).toBe(HASH_A);
  });

  it('checks by keys that come with the second call only', async () => {
    const work = workFolder();
    const offline = () => Promise.reject(new Error('no connection'));
    await expect(importRemotely(NETWORK_A, config, offline, work)).rejects.toThrow('no connection');
    const key = { publicKey: new Uint8Array(32).fill(1), first: 0, last: 0 };
    const signed = { ...NETWORK_A, keys: { keys: [key], threshold: 1 } };
    await expect(importRemotely(signed, config, offline, work)).rejects.toThrow('M-3');
  });

  it('starts over where the release before, of another schema, was interrupted', async () => {
    const wrangler = new Deployed();
    const work = workFolder();
    // before the seventh call
    wrangler.account.failAt = 12;
    await importRemotely(NETWORK_A, config, wrangler.run, work, MAX_FILE).catch(() => undefined);
    wrangler.database.exec('UPDATE import_head SET schema = schema - 1, sum = sum - 1');
    const note = join(work, 'upload.json');
    const noted = readFileSync(note, 'utf8');
    writeFileSync(note, noted.replace(`"files":"${SCHEMA},`, `"files":"${SCHEMA - 1},`));
    await importRemotely(NETWORK_A, config, wrangler.run, work, MAX_FILE);
    expect(await hashOf(wrangler.database)).toBe(HASH_A);
  });

  it('starts over when another release defines a table in another way', async () => {
    const wrangler = new Deployed();
    const work = workFolder();
    // before the seventh call
    wrangler.account.failAt = 12;
    await importRemotely(NETWORK_A, config, wrangler.run, work, MAX_FILE).catch(() => undefined);
    const migration = 'ALTER TABLE output ADD COLUMN next INTEGER';
    const local = await openLocalDatabase(work, config);
    local.exec(migration);
    local.close();
    wrangler.database.exec(migration);
    await importRemotely(NETWORK_A, config, wrangler.run, work, MAX_FILE);
    expect(await hashOf(wrangler.database)).toBe(HASH_A);
  });

  it('starts over when the staging tables are gone or another import took them', async () => {
    const wrangler = new Deployed();
    const work = workFolder();
    // before the seventh call
    wrangler.account.failAt = 12;
    await importRemotely(NETWORK_A, config, wrangler.run, work, MAX_FILE).catch(() => undefined);
    await importRemotely(NETWORK_C, config, wrangler.run, workFolder(), MAX_FILE);
    await importRemotely(NETWORK_A, config, wrangler.run, work, MAX_FILE);
    expect(await hashOf(wrangler.database)).toBe(HASH_A);
  });

  it('starts over when the database was set back during the upload', async () => {
    const wrangler = new Deployed();
    const work = workFolder();
    // before the seventh call
    wrangler.account.failAt = 12;
    await importRemotely(NETWORK_A, config, wrangler.run, work, MAX_FILE).catch(() => undefined);
    wrangler.database.exec(
      'DELETE FROM import_output; DELETE FROM import_nft; UPDATE import_progress SET position = 1',
    );
    await importRemotely(NETWORK_A, config, wrangler.run, work, MAX_FILE);
    expect(await hashOf(wrangler.database)).toBe(HASH_A);
  });

  it('does not take what another database got for what this one has', async () => {
    const [wrangler, other] = [new Deployed(), new Deployed()];
    const work = workFolder();
    other.account.createDatabase('other');
    wrangler.account.failAt = 12;
    await importRemotely(NETWORK_A, config, wrangler.run, work, MAX_FILE).catch(() => undefined);
    other.account.failAt = 10;
    const elsewhere = { ...config, databaseName: 'other' };
    await importRemotely(NETWORK_A, elsewhere, other.run, work, MAX_FILE).catch(() => undefined);
    await importRemotely(NETWORK_A, config, wrangler.run, work, MAX_FILE);
    expect(await hashOf(wrangler.database)).toBe(HASH_A);
  });

  it('asks before the deployed ledger goes back or changes its network', async () => {
    const wrangler = new Deployed();
    const work = workFolder();
    await importRemotely(NETWORK_A, config, wrangler.run, workFolder(), MAX_FILE);
    const { mayReplace, ...unasked } = NETWORK_C;
    await expect(importRemotely(unasked, config, wrangler.run, work, MAX_FILE)).rejects.toThrow(
      /^the ledger of network stardust_sample1 at milestone 81 is to be replaced by one of network /,
    );
    expect(await hashOf(wrangler.database)).toBe(HASH_A);
    const older = { ...unasked, full: NETWORK_A.full, delta: undefined };
    await expect(
      importRemotely(older, config, wrangler.run, workFolder(), MAX_FILE),
    ).rejects.toThrow(/^the ledger at milestone 81 is to be replaced by an older one, at 0: /);
    expect(await hashOf(wrangler.database)).toBe(HASH_A);
    await importRemotely(NETWORK_C, config, wrangler.run, work, MAX_FILE);
    expect(await hashOf(wrangler.database)).toBe(HASH_C);
  });

  it('uploads nothing of files that are refused', async () => {
    const wrangler = new Deployed();
    const files = { ...NETWORK_A, delta: NETWORK_C.delta };
    await expect(
      importRemotely(files, config, wrangler.run, workFolder(), MAX_FILE),
    ).rejects.toThrow('E.5');
    expect(wrangler.calls).toEqual([]);
  });

  it('is understood by wrangler, and its files by D1', async () => {
    const deployed = join(folder, 'deployed');
    const locally = (args: readonly string[]) =>
      runWrangler([
        ...args.map((arg) => (arg === '--remote' ? '--local' : arg)),
        '--persist-to',
        deployed,
      ]);
    await importRemotely(NETWORK_A, config, locally, workFolder());
    expect(existsSync(persistPath(deployed))).toBe(true);
    const db = await openLocalDatabase(deployed, config);
    expect(await hashOf(db)).toBe(HASH_A);
    db.close();
  });
});
