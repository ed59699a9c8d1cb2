/**
 * `stardust-edge import`, as the process that operators start.
 */

import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ImportRequest, importSnapshot } from '../../../cli/lib/import/import-snapshot.ts';
import { PROJECT } from '../../../cli/lib/project.ts';
import { openLocalDatabase, persistPath } from '../../../cli/lib/wrangler/local-database.ts';
import { readWranglerConfig } from '../../../cli/lib/wrangler/wrangler-config.ts';
import { readHead } from '../../../src/ledger/core/head.ts';
import { entryKey, readEntry } from '../../../src/nft-index/kv-values.ts';
import { callCommand } from '../../support/cli/call-script.ts';
import { writeMadeSnapshot } from '../../support/cli/made-snapshot.ts';
import {
  runCommand,
  startCommand,
  temporaryFolder,
  unpackVector,
} from '../../support/cli/script-process.ts';
import { dump, openMemory } from '../../support/ledger/memory-database.ts';
import { freshRandom } from '../../support/network/fresh-random.ts';
import { deltaSnapshot, fullSnapshot } from '../../support/network/network-snapshot.ts';
import { recordedNetwork } from '../../support/network/recorded-network.ts';

const folder = temporaryFolder();
const config = readWranglerConfig();

const FULL = unpackVector(folder, 'network-a/full_snapshot.bin');
const DELTA = unpackVector(folder, 'network-a/delta_snapshot.bin');
const OTHER = unpackVector(folder, 'network-c/full_snapshot.bin');
const FILES = [FULL, '--delta', DELTA];

/** test/vectors/README.md */
const KEYS = [
  '0xed3c3f1a319ff4e909cf2771d79fece0ac9bd9fd2ee49ea6c0885c9cb3b1248c',
  '0xf6752f5f46a53364e2ee9c4d662d762a81efd51010282a75cd6bd03f28ef349c',
];

async function dumpOf(persistTo: string): Promise<Record<string, unknown[]>> {
  const db = await openLocalDatabase(persistTo, config);
  try {
    return await dump(db);
  } finally {
    db.close();
  }
}

/** `stardust-edge import` of an older ledger in a terminal. */
function importInTerminal(...args: string[]) {
  const command = [process.execPath, 'cli/stardust-edge.js', 'import', FULL, '--persist-to'];
  const shown = ['-qfec', `exec ${[...command, ...args].join(' ')}`, '/dev/null'];
  const child = spawn('script', shown, { cwd: PROJECT });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** The same, once it has asked. */
async function askedInTerminal(persistTo: string) {
  const child = importInTerminal(persistTo);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  await new Promise<void>((resolve, reject) => {
    let printed = '';
    void ended.then(() => reject(new Error(`it did not ask: ${printed}`)));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      if (printed.includes('Type yes to replace it:')) resolve();
    });
  });
  const pid = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8'));
  return {
    answer(text: string): Promise<number | null> {
      child.stdin.write(`${text}\n`);
      return ended;
    },
    kill(): Promise<number | null> {
      process.kill(pid, 'SIGKILL');
      return ended;
    },
  };
}

/** Of HORNET: the keys of the snapshot, and another network's name. */
const OTHER_CONFIG = join(folder, 'config.json');
writeFileSync(
  OTHER_CONFIG,
  JSON.stringify({
    protocol: {
      targetNetworkName: 'mine',
      milestonePublicKeyCount: 2,
      publicKeyRanges: KEYS.map((key) => ({ key: key.slice(2), start: 0, end: 0 })),
    },
  }),
);

const NOT_SIGNED =
  /^\S+: delta snapshot, offset 56: 1\.7: milestone 1 is not properly signed, [^\n]+\n$/;

describe('import', () => {
  const state = join(folder, 'state');

  it('loads full and delta, says what it loaded, and fills the index', async () => {
    const keys = ['--keys', KEYS.join(), '--threshold', '2'];
    const { code, stdout } = await runCommand('import', ...FILES, '--persist-to', state, ...keys);
    expect(stdout.split('\n')).toEqual([
      'network       stardust_sample1',
      'ledger index  81',
      expect.stringMatching(/^time {10}\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/),
      'outputs       406',
      'NFTs          60',
      'state hash    987f45404baa75ebb31617db0dda5458367b1da1a1bc2859a860c2498e796b9e',
      'parameters    b2026ac2053616e947c5d1c56c27b5c3839ba6c97906579931ed022c6f22773b',
      '',
    ]);
    expect(code).toBe(0);

    const tables = await dumpOf(state);
    const [head] = tables.head as { generation: string }[];
    const miniflare = new Miniflare({
      ...convertV4MiniflareOptions({
        modules: true,
        script: '',
        kvNamespaces: { NFT_INDEX: config.localNamespaceId },
      }),
      resourcePersistencePath: persistPath(state),
    });
    const index = (await miniflare.getKVNamespace('NFT_INDEX')) as unknown as KVNamespace;
    for (const { id, output } of tables.nft as { id: string; output: string }[]) {
      const entry = readEntry(id, await index.get(entryKey(id)));
      expect(entry).toMatchObject({
        value: { generation: head!.generation, ledgerIndex: 81, outputId: output },
      });
    }
    await miniflare.dispose();
  });

  it('replaces no tables of a newer release, which could not read them then', async () => {
    const newer = join(folder, 'newer');
    cpSync(state, newer, { recursive: true });
    const db = await openLocalDatabase(newer, config);
    db.exec(`INSERT INTO d1_migrations (name) VALUES ('9999_next.sql');
      UPDATE head SET schema = schema + 1, sum = sum + 1`);
    const before = await dump(db);
    const { code, stderr } = await runCommand('import', ...FILES, '--persist-to', newer);
    const sentence = `${newer} is of a newer release: import with that one\n`;
    expect([code, stderr]).toEqual([1, sentence]);
    expect(await dump(db)).toEqual(before);
    db.close();
  });

  it('finds a relative folder from where it is called, and fills its index', async () => {
    const name = `relative-${process.pid}`;
    const stray = join(PROJECT, name);
    onTestFinished(() => rmSync(stray, { recursive: true, force: true }));
    const command = [join(PROJECT, 'cli/stardust-edge.js'), 'import', ...FILES];
    const args = [...command, '--persist-to', name];
    await promisify(execFile)(process.execPath, args, { cwd: folder });
    expect((await dumpOf(join(folder, name))).nft_index).toHaveLength(1);
    expect(existsSync(stray)).toBe(false);
  });

  it('with INDEX=all indexes every kind of output', async () => {
    const state = join(folder, 'every-kind');
    const args = [FULL, '--persist-to', state];
    const { ended } = startCommand('import', args, { INDEX: 'all' });
    expect((await ended).code).toBe(0);
    const tables = await dumpOf(state);
    expect(tables.head).toMatchObject([{ indexed: 'all' }]);
    expect(tables.output_detail?.length).toBe(tables.output?.length);
  });

  it.each<[string, string[], RegExp, code?: number]>([
    ['no file is named', [], /^missing required argument 'FILE'\n/, 2],
    [
      'a flag is not known',
      ['--oldr', FULL],
      /^unknown option '--oldr'\n\(Did you mean --older\?\)\n/,
      2,
    ],
    [
      'a flag has another name now',
      ['--full', FULL],
      /^--full is now an argument: import FILE\n/,
      2,
    ],
    ['a file is not there', ['/nowhere.bin'], /^\/nowhere\.bin: there is no such file\n$/],
    ['a file is a folder', [folder], /: not a file\n$/],
    [
      'a file is of the other kind',
      [DELTA],
      /^\S+delta_snapshot\.bin: full snapshot, offset 1: [^\n]+\n$/,
    ],
    [
      'files do not belong together',
      [OTHER, '--delta', DELTA],
      /^\S+: delta snapshot, offset \d+: E\.5: [^\n]+\n$/,
    ],
    [
      'milestones are signed by others',
      [...FILES, '--keys', KEYS[0]!, '--threshold', '1'],
      NOT_SIGNED,
    ],
    [
      'a file is not the last ledger of the network',
      [FULL, '--network', 'iota-final'],
      /: full snapshot, offset \d+: the file has SHA-256 [0-9a-f]{64}, expected 972e[0-9a-f]{60}\n$/,
    ],
    ['milestones are signed by another network', [...FILES, '--network', 'shimmer'], NOT_SIGNED],
    [
      'the network is not known',
      [FULL, '--network', 'shimer'],
      /^shimer is neither a known network nor a JSON file\n--help describes[^\n]+\n$/,
      2,
    ],
    [
      'a delta comes with the last ledger',
      [...FILES, '--network', 'iota-final'],
      /^--network iota-final is one file, without --delta\n$/,
    ],
    [
      'keys come without a threshold, and not all of them signed',
      [...FILES, '--keys', `${KEYS[0]},${'ab'.repeat(32)}`],
      NOT_SIGNED,
    ],
    [
      'the configuration file is of another network',
      [...FILES, '--network', OTHER_CONFIG],
      /^the ledger is of network stardust_sample1, but --network \S+ is of mine: [^\n]+\n$/,
    ],
    ['keys are none', [...FILES, '--keys', 'ab'], /^--keys must be keys[^\n]+\n$/, 2],
  ])(
    'says so in a sentence when %s, and leaves the ledger as it was',
    async (_, args, sentence, code = 1) => {
      const before = await dumpOf(state);
      const ended = await callCommand('import', ...args, '--persist-to', state);
      expect(ended).toEqual({ code, stdout: '', stderr: expect.stringMatching(sentence) });
      expect(await dumpOf(state)).toEqual(before);
    },
  );

  it('takes keys from the environment, as serve does', async () => {
    const env = { MILESTONE_PUBLIC_KEYS: KEYS[0]!, MILESTONE_THRESHOLD: '1' };
    const { ended } = startCommand('import', [...FILES, '--persist-to', state], env);
    const { code, stderr } = await ended;
    expect(stderr).toMatch(/^\S+: delta snapshot, [^\n]+ not properly signed, [^\n]+\n$/);
    expect(code).toBe(1);
  });

  it('makes no data folder for a file that is not there', async () => {
    const nowhere = join(folder, 'nowhere');
    for (const args of [[nowhere], [FULL, '--delta', nowhere]]) {
      const { code, stderr } = await callCommand('import', ...args, '--persist-to', nowhere);
      expect([code, stderr]).toEqual([1, `${nowhere}: there is no such file\n`]);
    }
    expect(existsSync(nowhere)).toBe(false);
  });

  it('refuses a data folder that is none', async () => {
    const { code, stderr } = await runCommand('import', FULL, '--persist-to', FULL);
    expect([code, stderr]).toEqual([1, `${FULL} is not a folder\n`]);
  });

  it.runIf(process.env.SLOW)(
    'shows by a hash that a parameter differs, which the state hash does not',
    async () => {
      const bytes = readFileSync(FULL);
      const name = 'stardust_sample1';
      const flipped = join(folder, 'flipped.bin');
      // behind the name and a length: the prefix of addresses
      bytes[bytes.indexOf(name) + name.length + 1]! ^= 1;
      writeFileSync(flipped, bytes);
      const [own, other] = await Promise.all(
        [FULL, flipped].map(async (file, i) => {
          const { stdout } = await runCommand(
            'import',
            file,
            '--persist-to',
            join(folder, `p${i}`),
          );
          return stdout.trim().split('\n');
        }),
      );
      expect(own!.at(-1)).toMatch(/^parameters /);
      expect(other!.at(-1)).not.toBe(own!.at(-1));
      expect(other!.slice(0, -1)).toEqual(own!.slice(0, -1));
    },
  );

  const BACK = 'the ledger at milestone 81 is to be replaced by an older one, at 0';
  const AWAY =
    'the ledger of network stardust_sample1 at milestone 81 ' +
    'is to be replaced by one of network params_net_1 at 0';

  it.each([
    ['a newer ledger', BACK, FULL],
    ['that of another network', AWAY, OTHER],
  ])('does not replace %s without a terminal to ask in', async (_, sentence, file) => {
    const before = await dumpOf(state);
    const { code, stdout, stderr } = await runCommand(
      ...(['import', file, '--persist-to', state] as const),
    );
    expect([code, stderr]).toEqual([
      1,
      `${sentence}: nothing was replaced; add --older if it is right\n`,
    ]);
    expect(stdout).toMatch(
      /^network .+\nledger index {2}0\ntime .+\n(?:.+\n)+state hash {4}\w{64}\nparameters {4}\w{64}\n$/,
    );
    expect(await dumpOf(state)).toEqual(before);
  });

  it.runIf(process.env.SLOW)('mends damaged parameters, once the operator agrees', async () => {
    const persistTo = join(folder, 'damaged');
    const again = ['import', ...FILES, '--persist-to', persistTo] as const;
    await runCommand(...again);
    for (const sql of [
      "UPDATE parameters SET bytes = '@' || substr(bytes, 2)",
      "UPDATE parameters SET bytes = 'B' || substr(bytes, 2)",
      'DELETE FROM parameters',
    ]) {
      const db = await openLocalDatabase(persistTo, config);
      db.exec(sql);
      db.close();
      expect((await runCommand(...again)).stderr).toMatch(
        /^the ledger of network \(damaged\) at /m,
      );
      expect((await runCommand(...again, '--older')).code).toBe(0);
    }
  });

  it('asks in a terminal, may be killed while it asks, and does what is answered', async () => {
    const before = await dumpOf(state);
    const end = (await askedInTerminal(state)).kill();
    expect(await end).not.toBe(0);
    const { import_progress: progress, ...served } = await dumpOf(state);
    expect(progress).toHaveLength(1);
    expect(served).toMatchObject(before);
    expect(await (await askedInTerminal(state)).answer('no')).toBe(1);
    expect(await dumpOf(state)).toEqual(before);
    expect(await (await askedInTerminal(state)).answer('yes')).toBe(0);
    expect((await dumpOf(state)).head).toMatchObject([{ ledger: 0 }]);
    // not newer any more
    expect((await runCommand('import', ...FILES, '--persist-to', state)).code).toBe(0);
  });

  it('waits for no answer in a terminal where the question cannot be printed', async () => {
    const child = importInTerminal(state, '> /dev/full');
    const [[code], said] = await Promise.all([once(child, 'exit'), readText(child.stdout)]);
    expect([code, said]).toEqual([
      2,
      expect.stringContaining('--older is missing, and the question '),
    ]);
  });

  it('replaces the ledger of another network with --older, and says so', async () => {
    const { code, stderr } = await runCommand(
      ...(['import', OTHER, '--persist-to', state, '--older'] as const),
    );
    const caches = 'if its milestones are others, empty the caches of proxies after the import';
    const notes = `Note: ${AWAY}.\nNote: ${caches}: they keep answers for up to a year.\n`;
    expect([code, stderr]).toEqual([0, notes]);
    expect((await dumpOf(state)).head).toMatchObject([{ ledger: 0 }]);
  });

  const DEATHS = Number(process.env.DEATHS ?? 2);

  it.runIf(process.env.SLOW)(`goes on after each of ${DEATHS} deaths`, async () => {
    const random = freshRandom();
    const path = join(folder, 'made.bin');
    writeMadeSnapshot(path, 20_000);
    const smooth = join(folder, 'smooth');
    const due = await runCommand('import', path, '--persist-to', smooth);
    expect(due.code).toBe(0);

    const rough = join(folder, 'rough');
    const positions: number[] = [];
    for (let deaths = 0; deaths < DEATHS; deaths++) {
      const { child, ended } = startCommand('import', [path, '--persist-to', rough]);
      await sleep(random.between(300, 1000));
      child.kill('SIGKILL');
      if ((await ended).code === 0) break;
      const [progress] = ((await dumpOf(rough)).import_progress ?? []) as { position: number }[];
      // killed behind the last step: the import was done, and another would start over
      if (progress === undefined && positions.length > 0) break;
      if (progress) positions.push(progress.position);
    }
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    // on stderr: progress, if it takes long
    const { code, stdout } = await runCommand('import', path, '--persist-to', rough);
    expect([code, stdout]).toEqual([0, due.stdout]);
    const [was, is] = [await dumpOf(smooth), await dumpOf(rough)];
    expect({ ...is, head: [] }).toEqual({ ...was, head: [] });
  });
});

it('is alone in its folder: of two at once the second changes nothing', async () => {
  const persistTo = join(folder, 'two');
  await runCommand('import', ...FILES, '--persist-to', persistTo);
  const asked = await askedInTerminal(persistTo);
  const before = await dumpOf(persistTo);
  expect(await runCommand('import', FULL, '--older', '--persist-to', persistTo)).toEqual({
    code: 1,
    stdout: '',
    stderr: `another import of ${persistTo} is under way: wait until it has ended\n`,
  });
  expect(await dumpOf(persistTo)).toEqual(before);
  expect(await asked.answer('yes')).toBe(0);
});

it('says that signatures are not checked, of a full snapshot with diffs too', async () => {
  const network = recordedNetwork('network-n');
  const write = (name: string, chunks: Iterable<Uint8Array>) => {
    const path = join(folder, name);
    writeFileSync(path, Buffer.concat([...chunks]));
    return path;
  };
  const bare = write('bare.bin', fullSnapshot(network, { target: 119 }));
  const withDiffs = write('diffs.bin', fullSnapshot(network, { target: 119, ledger: 122 }));
  const delta = write('delta.bin', deltaSnapshot(network, 119, 121));
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  onTestFinished(() => warn.mockRestore());
  const notesOf = async (request: Pick<ImportRequest, 'full' | 'delta' | 'keys'>) => {
    warn.mockClear();
    await importSnapshot(await openMemory(), request);
    return warn.mock.calls.flat();
  };
  const note = [expect.stringMatching(/^Note: signatures of the milestones .* are not checked/)];
  expect(await notesOf({ full: bare, delta: undefined, keys: undefined })).toEqual([]);
  expect(await notesOf({ full: withDiffs, delta: undefined, keys: undefined })).toEqual(note);
  expect(await notesOf({ full: bare, delta, keys: undefined })).toEqual(note);
  expect(await notesOf({ full: withDiffs, delta: undefined, keys: network.keys })).toEqual([]);
});

it('keeps the SHA-256 of a file that has the one that is expected', async () => {
  const sha256 = createHash('sha256').update(readFileSync(OTHER)).digest('hex');
  const db = await openMemory();
  const request = { full: OTHER, delta: undefined, keys: undefined };
  await importSnapshot(db, { ...request, sha256 });
  expect((await readHead(db))?.snapshot).toBe(sha256);
  // another import replaces it
  await importSnapshot(db, request);
  expect((await readHead(db))?.snapshot).toBe('');
});
