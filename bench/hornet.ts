/**
 * This node beside HORNET, over one network and on one machine: white flags and reads. Both answer
 * the same requests, and the answers are compared before they are timed. The network is made here:
 * what is needed are the reference's programs, hornet 2.0.1 and inx-coordinator 1.0.1.
 */
import { strict as assert } from 'node:assert';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runMain, UsageError } from '../cli/lib/process/command-line.ts';
import { PROJECT } from '../cli/lib/project.ts';
import { toBech32 } from '../src/stardust/bech32.ts';
import { freePort } from '../test/support/edge/launch.ts';
import { startServe } from '../test/support/edge/npm-serve.ts';
import { readInfo } from '../test/support/edge/walk-network.ts';
import { LoadConnection } from './tools/connection.ts';
import { median, time } from './tools/measure.ts';

const USAGE = `Usage: node tools/run.js bench/hornet.ts PROGRAMS

Prints a table of this node and HORNET on this machine. PROGRAMS is a folder with hornet (2.0.1) and
inx-coordinator (1.0.1). It takes two minutes, and a folder of its own among the temporary ones.`;

const CONES = [1000, 10_000];
const REQUESTS = 15;
const STRANDS = 8;
const CONNECTIONS = 16;
const READ_MS = 5000;
const NETWORK = 'beside-hornet';
const PREFIX = 'tst';

interface Key {
  /** Hex: the seed and the public key, as inx-coordinator takes it. */
  secret: string;
  publicKey: string;
}

function makeKey(): Key {
  const { privateKey } = generateKeyPairSync('ed25519');
  const { d, x } = privateKey.export({ format: 'jwk' });
  const hex = (text: string | undefined) => Buffer.from(text!, 'base64url').toString('hex');
  return { secret: hex(d) + hex(x), publicKey: hex(x) };
}

class Network {
  readonly folder = mkdtempSync(join(tmpdir(), 'hornet-'));
  readonly #keys = [makeKey(), makeKey()];
  readonly #programs: string;
  readonly #running: ChildProcess[] = [];
  #inx = '';
  url = '';

  constructor(programs: string) {
    this.#programs = programs;
  }

  get config(): string {
    return join(this.folder, 'config.json');
  }

  get genesis(): string {
    return join(this.folder, 'genesis.bin');
  }

  /** Makes the network, and starts its node. */
  async start(): Promise<void> {
    this.#write('config.json', {
      protocol: {
        targetNetworkName: NETWORK,
        milestonePublicKeyCount: 2,
        publicKeyRanges: this.#keys.map(({ publicKey: key }) => ({ key, start: 0, end: 0 })),
      },
    });
    this.#write('protocol_parameters.json', {
      ...{ version: 2, networkName: NETWORK, bech32HRP: PREFIX, minPoWScore: 0, belowMaxDepth: 15 },
      rentStructure: { vByteCost: 500, vByteFactorData: 1, vByteFactorKey: 10 },
      tokenSupply: '2779530283277761',
    });
    mkdirSync(join(this.folder, 'state'));
    mkdirSync(join(this.folder, 'snapshots'));
    const holder = toBech32(PREFIX, { type: 0, id: randomBytes(32) });
    const snapshot = 'snapshots/full_snapshot.bin';
    this.#tool('snap-gen', [
      '--protocolParametersPath=protocol_parameters.json',
      `--mintAddress=${holder}`,
      `--outputPath=${snapshot}`,
    ]);
    cpSync(join(this.folder, snapshot), this.genesis);
    this.#tool('bootstrap-private-tangle', [
      ...['--configFile=config.json', `--snapshotPath=${snapshot}`, '--databasePath=database'],
      ...['--databaseEngine=pebble', '--cooStatePath=state/coordinator.state'],
    ]);
    const [rest, inx, peer] = [await freePort(), await freePort(), await freePort()];
    this.#inx = `127.0.0.1:${inx}`;
    this.url = `http://127.0.0.1:${rest}`;
    this.#start('hornet', [
      ...['-c', 'config.json', '--db.engine=pebble', '--db.path=database'],
      ...['--inx.enabled=true', `--inx.bindAddress=${this.#inx}`],
      ...[`--restAPI.bindAddress=127.0.0.1:${rest}`, '--restAPI.pow.enabled=true'],
      // the white flag is not public by itself
      '--restAPI.publicRoutes=/api/*',
      `--p2p.bindMultiAddresses=/ip4/127.0.0.1/tcp/${peer}`,
      ...['--p2p.autopeering.enabled=false', '--p2p.db.path=p2pstore'],
      '--app.checkForUpdates=false',
    ]);
    await until(async () => (await fetch(`${this.url}/api/core/v2/info`)).ok);
  }

  /** Milestones, until there is one with this index or a higher one. */
  async issueUpTo(index: number): Promise<void> {
    const coordinator = this.#start('inx-coordinator', [
      ...[`--inx.address=${this.#inx}`, '--coordinator.stateFilePath=state/coordinator.state'],
      ...['--coordinator.blockBackups.enabled=false', '--coordinator.interval=1s'],
      '--app.checkForUpdates=false',
    ]);
    await until(async () => (await this.readLedgerIndex()) >= index);
    coordinator.kill('SIGINT');
    await once(coordinator, 'exit');
  }

  async readLedgerIndex(): Promise<number> {
    return (await readConfirmed(this.url)).index;
  }

  async stop(): Promise<void> {
    for (const child of this.#running.filter(({ exitCode }) => exitCode === null)) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    rmSync(this.folder, { recursive: true });
  }

  #write(name: string, content: object): void {
    writeFileSync(join(this.folder, name), JSON.stringify(content));
  }

  #options() {
    const env = { ...process.env, COO_PRV_KEYS: this.#keys.map(({ secret }) => secret).join() };
    return { cwd: this.folder, env };
  }

  #tool(name: string, args: readonly string[]): void {
    const options = { ...this.#options(), stdio: 'pipe' as const };
    execFileSync(join(this.#programs, 'hornet'), ['tool', name, ...args], options);
  }

  #start(name: string, args: readonly string[]): ChildProcess {
    const log = openSync(join(this.folder, `${name}.log`), 'a');
    const options = {
      ...this.#options(),
      stdio: ['ignore', log, log] as ['ignore', number, number],
    };
    const child = spawn(join(this.#programs, name), args, options);
    this.#running.push(child);
    return child;
  }
}

const PATIENCE_MS = 120_000;

async function until(holds: () => Promise<boolean>): Promise<void> {
  const began = performance.now();
  while (!(await holds().catch(() => false))) {
    if (performance.now() - began > PATIENCE_MS) throw new Error(`waited in vain: ${holds}`);
    await sleep(100);
  }
}

/** The last milestone that the node has applied. */
const readConfirmed = async (url: string) => (await readInfo(url)).status.confirmedMilestone;

/** Blocks with some data each, in strands that one block joins; returns the ID of that one. */
async function sendNotes(url: string, count: number): Promise<string> {
  let number = 0;
  async function send(connection: LoadConnection, parents: readonly string[]): Promise<string> {
    const data = `0x${(number++).toString(16).padStart(8, '0')}${randomBytes(8).toString('hex')}`;
    const block = {
      protocolVersion: 2,
      ...(parents.length > 0 && { parents: [...parents].sort() }),
      payload: { type: 5, tag: '0x', data },
    };
    const { status, body } = await connection.post('/api/core/v2/blocks', block);
    assert.equal(status, 201, body);
    return (JSON.parse(body) as { blockId: string }).blockId;
  }
  const tips = await Promise.all(
    Array.from({ length: STRANDS }, async () => {
      const connection = new LoadConnection(url);
      let last = await send(connection, []);
      for (let i = 1; i < (count - 1) / STRANDS; i++) last = await send(connection, [last]);
      connection.close();
      return last;
    }),
  );
  const connection = new LoadConnection(url);
  const tip = await send(connection, tips);
  connection.close();
  return tip;
}

/** Milliseconds of a white flag about these notes: the median of each node, in turns. */
async function measureWhiteFlag(ours: string, hornet: Network, count: number): Promise<number[]> {
  const tip = await sendNotes(hornet.url, count);
  const { index, timestamp, milestoneId } = await readConfirmed(hornet.url);
  await until(async () => (await readConfirmed(ours)).index === index);
  const connections = [new LoadConnection(ours), new LoadConnection(hornet.url)];
  let later = timestamp + 10;
  const ask = async (connection: LoadConnection) => {
    const proposal = {
      index: index + 1,
      timestamp: later,
      parents: [tip],
      previousMilestoneId: milestoneId,
    };
    return connection.post('/api/core/v2/whiteflag', proposal);
  };
  // its blocks are fetched from HORNET
  await until(async () => (await ask(connections[0]!)).status === 200);
  const times: number[][] = [[], []];
  for (let i = 0; i < 2 * REQUESTS; i++) {
    later++;
    const answers: string[] = [];
    for (const [node, connection] of connections.entries()) {
      const took = await time(async () => {
        const { status, body } = await ask(connection);
        assert.equal(status, 200, body);
        answers.push(JSON.stringify(Object.entries(JSON.parse(body)).sort()));
      });
      // the first half warms both up
      if (i >= REQUESTS) times[node]!.push(took);
    }
    assert.equal(answers[0], answers[1]);
  }
  for (const connection of connections) connection.close();
  return times.map(median);
}

/** Answers a second, with several connections. */
async function measureReads(url: string, path: string): Promise<number> {
  const end = performance.now() + READ_MS;
  let answers = 0;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const connection = new LoadConnection(url);
      const request = connection.encode('GET', path);
      while (performance.now() < end) {
        assert.equal((await connection.send(request)).status, 200);
        answers++;
      }
      connection.close();
    }),
  );
  return answers / (READ_MS / 1000);
}

async function pathsOf(url: string): Promise<[string, string][]> {
  const { index, milestoneId } = await readConfirmed(url);
  const tips = await fetch(`${url}/api/core/v2/milestones/${milestoneId}`);
  const { parents } = (await tips.json()) as { parents: string[] };
  return [
    ['info', 'info'],
    ['milestone by index', `milestones/by-index/${index}`],
    ['changes of a milestone', `milestones/by-index/${index}/utxo-changes`],
    ['block', `blocks/${parents[0]}`],
    ['block metadata', `blocks/${parents[0]}/metadata`],
    ['output of the genesis', `outputs/0x${'00'.repeat(34)}`],
    ['treasury', 'treasury'],
  ].map(([name, path]) => [name!, `/api/core/v2/${path}`]);
}

await runMain(USAGE, async ([programs, ...others]) => {
  if (programs === undefined || others.length > 0 || !existsSync(join(programs, 'hornet')))
    throw new UsageError('PROGRAMS must be a folder with hornet and inx-coordinator');
  const network = new Network(resolve(programs));
  try {
    await network.start();
    const persistTo = join(network.folder, 'edge');
    const keys = ['--network', network.config, '--persist-to', persistTo];
    const command = ['cli/stardust-edge.js', 'import', network.genesis, ...keys];
    execFileSync(process.execPath, command, { cwd: PROJECT, stdio: 'pipe' });
    await network.issueUpTo(3);
    const served = await startServe(['--port', '0', ...keys], { UPSTREAM_URL: network.url });
    try {
      const rows: [string, number[]][] = [];
      for (const count of CONES) {
        const name = `white flag, ${count.toLocaleString('en')} notes, ms`;
        rows.push([name, await measureWhiteFlag(served.url, network, count)]);
        // these notes are not part of the next cone
        const after = (await network.readLedgerIndex()) + 1;
        await network.issueUpTo(after);
        await until(async () => (await readConfirmed(served.url)).index >= after);
      }
      for (const [name, path] of await pathsOf(network.url))
        rows.push([
          `${name}, a second`,
          [await measureReads(served.url, path), await measureReads(network.url, path)],
        ]);
      const commit = execFileSync('git', ['describe', '--always', '--dirty'], { cwd: PROJECT });
      console.log(`Commit ${commit.toString().trim()}, ${new Date().toISOString().slice(0, 10)},`);
      console.log(`${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}\n`);
      console.log('| | this node | HORNET |\n|---|---|---|');
      for (const [name, values] of rows)
        console.log(
          `| ${name} | ${values.map((each) => Number(each.toPrecision(3)).toLocaleString('en')).join(' | ')} |`,
        );
    } finally {
      await served.stop();
    }
  } finally {
    await network.stop();
  }
  return 0;
});
