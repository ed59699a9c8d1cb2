/** Every command says how it is called, and refuses what it does not know. */
import { execFile, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text as readText } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { errorMessage } from '../../cli/lib/process/command-line.ts';
import { PROJECT } from '../../cli/lib/project.ts';
import { SNAPSHOT } from '../../cli/start/sample.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { callCommand, callScript } from '../support/cli/call-script.ts';
import { runCommand, startCommand, temporaryFolder } from '../support/cli/script-process.ts';
import { listen } from '../support/edge/launch.ts';

const COMMANDS = [
  'start',
  'serve',
  'import',
  'backup',
  'restore',
  'reindex',
  'verify',
  'explain',
  'ledger-root',
  'conformance',
  'deploy',
];

const folder = temporaryFolder();

/** Columns of a terminal that is not narrow. */
const COLUMNS = 100;

describe('stardust-edge', () => {
  it('lists its commands', async () => {
    for (const flag of ['-h', '--help', 'help']) {
      const { code, stdout, stderr } = await callCommand(flag);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/^Usage: npx stardust-edge /);
      const listed = Array.from(stdout.matchAll(/^ {2}([a-z][a-z-]+) {2,}/gm), ([, name]) => name);
      expect(listed).toEqual(COMMANDS);
    }
  });

  it.each(COMMANDS)('%s says how it is called', async (name) => {
    for (const flag of ['-h', '--help']) {
      const { code, stdout, stderr } = await callCommand(name, flag);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(`Usage: npx stardust-edge ${name} `);
      for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(COLUMNS);
    }
  });

  // others go to wrangler
  it.each(COMMANDS.filter((name) => name !== 'start'))(
    '%s refuses an option that it does not know',
    async (name) => {
      const { code, stdout, stderr } = await callCommand(name, '--nothing-of-this-name');
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(
        /^unknown option '--nothing-of-this-name'\n.*--help describes the command line\.\n$/s,
      );
    },
  );

  it.each([
    [[], /^Usage: npx stardust-edge .*\n--help describes the command line\.\n$/s],
    [['imprt'], /^unknown command 'imprt'\n\(Did you mean import\?\)\n/],
    [['help', 'imprt'], /^unknown command 'imprt'\n/],
    [['deploy', '--location', 'mars'], /Allowed choices are weur, /],
    [['toString'], /^unknown command 'toString'\n/],
    [['serve', '--prot', '1'], /^unknown option '--prot'\n\(Did you mean --port\?\)\n/],
    [['deploy', '--api-token=hunter2'], /^unknown option '--api-token'\n--help/],
    [['backup'], /^missing required argument 'FILE'\n/],
    [['backup', 'a', 'b'], /^too many arguments/],
    [['restore', 'a'], /^--persist-to is missing\n/],
    [['reindex', '--env', 'staging'], /^--env is for --remote\n/],
    // of a variable that is not set
    [['serve', '--host', ''], /^--host is empty\n/],
    [['start', '--ip', ''], /^--ip is empty\n/],
    [['import', 'a', '--persist-to', ''], /^--persist-to is empty\n/],
    [['restore', 'a', '--persist-to', ''], /^--persist-to is empty\n/],
    [['deploy', '--remove', '--yes', '--env', ''], /^--env is empty\n/],
    [['import', 'a', '--keys', '', '--threshold', ''], /^--keys is empty\n/],
    [['import', 'a', '--threshold', ' '], /^--threshold is empty\n/],
    [['serve', '--network', ''], /^--network is empty\n/],
    [['reindex', '--remote', '--env', ''], /^--env is empty\n/],
    [['deploy', '--remove', '--dry-run'], /^--remove is with --env and --yes only\n/],
    [['deploy', '--remove', '--yes', '--url', 'x'], /^--remove is with --env and --yes only\n/],
    [['deploy', '--remove', '--var', 'INDEX:all'], /^--remove is with --env and --yes only\n/],
    [['deploy', '--yes'], /^--yes is for --remove\n/],
    // as they were called before
    [['undeploy'], /^undeploy is now: npx stardust-edge deploy --remove\n/],
    [['cut-backup', 'a', 'b'], /^cut-backup is now: npx stardust-edge backup --from-d1\n/],
    [['import', '--full', 'a'], /^--full is now an argument: import FILE\n/],
    [['verify', 'a', '--milestone-public-keys', 'b'], /^--milestone-public-keys is now --keys\n/],
    [['import', 'a', '--milestone-public-keys', 'b'], /^--milestone-public-keys is now --keys\n/],
    [['import', 'a', '--milestone-threshold', '2'], /^--milestone-threshold is now --threshold\n/],
    [['deploy', '--full', 'a'], /^--full is now an argument: deploy FILE\n/],
  ])('%j is misuse', async ([name = '', ...args], sentence) => {
    const called = name === '' ? runCommand('--') : callCommand(name, ...args);
    expect(await called).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(sentence) });
  });

  it('has a version, and no colours where there is no terminal', async () => {
    const { version } = packageJson;
    expect(await runCommand('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
    expect((await callCommand('import', '--help')).stdout).not.toContain('\x1b');
  });

  it('is called as the image says', async () => {
    const dockerfile = readFileSync(join(PROJECT, 'container/Dockerfile'), 'utf8');
    const [, calledAs] = /^ENV STARDUST_EDGE_CALLED_AS="(.*)"$/m.exec(dockerfile)!;
    const script = join(PROJECT, 'cli/stardust-edge.js');
    const { stdout } = await promisify(execFile)(process.execPath, [script, 'import', '--help'], {
      env: { ...process.env, STARDUST_EDGE_CALLED_AS: calledAs! },
    });
    expect(stdout).toMatch(/^Usage: docker run stardust-edge-node import /);
  });

  const SERVING = '--max-semi-space-size=2,--initial-old-space-size=8,--heap-growing-percent=15,1';

  it.each([
    ['import', '--max-semi-space-size=2'],
    ['deploy', '--max-semi-space-size=2'],
    ['start', SERVING],
    ['serve', SERVING],
  ])('%s has its memory settings however it is started', async (name, flag) => {
    // prints the flags of the process that has the command, and how many arenas glibc may have
    const said = '[...process.execArgv,process.env.MALLOC_ARENA_MAX].join()';
    const probe = `data:text/javascript,process.on('exit',()=>console.error(${said}))`;
    const script = join(PROJECT, 'cli/stardust-edge.js');
    const { stderr } = await promisify(execFile)(process.execPath, [script, name, '--help'], {
      env: { ...process.env, NODE_OPTIONS: `--import ${probe}` },
    });
    expect(stderr).toContain(flag);
  });
});

/** Scripts for developers. */
const scripts = [
  ...[
    'tools/build.ts',
    'tools/bundle-explorer.ts',
    'tools/openapi.ts',
    'cli/start/collect-sample.ts',
  ],
  'bench/run.ts',
  'test/run.ts',
  'test/slow/full-disk.ts',
  'test/slow/run.ts',
];

/** Their flags go to vitest. */
const PASS_ON = ['test/run.ts'];

it.each(scripts)('%s says with --help how it is called', async (script) => {
  const { code, stdout, stderr } = await callScript(script, '--help');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^Usage: /);
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(COLUMNS);
});

it.each(scripts.filter((script) => !PASS_ON.includes(script)))(
  '%s refuses a flag that it does not know',
  async (script) => {
    const { code, stdout, stderr } = await callScript(script, '--nothing-of-this-name');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^Unknown option '--nothing-of-this-name'.*\n--help describes /);
  },
);

it('each file of cli/ is a command', () => {
  const files = readdirSync(join(PROJECT, 'cli')).filter((name) => name.endsWith('.ts'));
  const known = [...COMMANDS.map((name) => `${name}.ts`), 'commands.ts'];
  expect(files.filter((name) => !known.includes(name))).toEqual([]);
});

/** In the process of a command: a point on stderr, as bars of progress are, before each of its lines. */
const POINTS = `
  const { stdout, stderr } = process;
  const { write } = stdout;
  stdout.write = (...line) => (stderr.write('.'), write.apply(stdout, line));`;

it.each(['import', 'restore'])('%s makes no folder ~', async (name) => {
  const { code, stderr } = await callCommand(name, '--persist-to=~/state', SNAPSHOT);
  const sentence = '--persist-to: no shell has expanded ~, write $HOME in its place\n';
  expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
});

describe('a proxy that the environment names', () => {
  const requested: string[] = [];
  const server = createServer(({ url }, response) => {
    requested.push(url!);
    response.writeHead(418).end();
  });
  const verify = (url: string, proxy: string) =>
    startCommand('verify', [url, '--keys', 'ab'.repeat(32)], { HTTP_PROXY: proxy }).ended;

  it('has requests to other machines, and none to this one', async () => {
    const own = await listen(server);
    onTestFinished(() => void server.close());
    const path = '/api/core/v2/info';
    const ended = await Promise.all([
      verify('http://edge.invalid', own),
      verify(own, 'http://127.0.0.1:1'),
      verify(own, '127.0.0.1:1'),
    ]);
    for (const { stderr } of ended) expect(stderr).toContain(`${path}: status 418`);
    expect(requested.toSorted()).toEqual([path, path, `http://edge.invalid${path}`]);
    expect(ended[2].stderr).toMatch(
      /^No proxy is used: HTTP_PROXY and HTTPS_PROXY must be as http:/,
    );
  });
});

describe('output that cannot be written', () => {
  const args = ['cli/stardust-edge.js', 'ledger-root', SNAPSHOT];

  it.each([
    [args],
    // it goes on for long after its last line
    [['cli/stardust-edge.js', 'import', SNAPSHOT, '--persist-to', join(folder, 'unprinted')]],
  ])('is an error in a sentence where its disk is full: %j', async (command) => {
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    const stdio: StdioOptions = ['ignore', full, 'pipe'];
    const child = spawn(process.execPath, command, { cwd: PROJECT, stdio });
    const [[code], stderr] = await Promise.all([once(child, 'exit'), readText(child.stderr!)]);
    const sentence = /^not all could be printed: the disk is full: [^\n]+\n$/;
    expect([code, stderr]).toEqual([1, expect.stringMatching(sentence)]);
  });

  it('ends nothing where its reader has gone', async () => {
    const preload = ['--import', `data:text/javascript,${encodeURIComponent(POINTS)}`];
    const child = spawn(process.execPath, [...preload, ...args], { cwd: PROJECT });
    child.stderr.destroy();
    const [[code], stdout] = await Promise.all([once(child, 'exit'), readText(child.stdout)]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^final root {6}0x/m)]);
  });
});

it('a full disk is named, whether SQLite or the system finds it', () => {
  const db = new DatabaseSync(':memory:');
  db.exec('PRAGMA max_page_count = 2; CREATE TABLE a (b)');
  const fillings = [
    () => db.exec('INSERT INTO a SELECT randomblob(100000)'),
    () => writeFileSync('/dev/full', 'a'),
  ];
  for (const fill of fillings) {
    let thrown: unknown;
    try {
      fill();
    } catch (error) {
      thrown = error;
    }
    expect(errorMessage(thrown)).toMatch(/^the disk is full: free some space, .* \(.+\)$/);
  }
  expect(errorMessage(new Error('other'))).toBe('other');
});

it('a database that another command writes is named, and one that cannot be opened', () => {
  const path = join(folder, 'busy');
  const [writer, other] = [new DatabaseSync(path), new DatabaseSync(path, { timeout: 0 })];
  onTestFinished(() => [writer, other].forEach((each) => void each.close()));
  writer.exec('BEGIN IMMEDIATE');
  expect(thrownBy(() => other.exec('BEGIN IMMEDIATE'))).toMatch(
    /^another command writes the database: wait until it has ended, and give .*locked\)$/,
  );
  const long = join(folder, ...Array.from({ length: 3 }, () => 'x'.repeat(200)));
  mkdirSync(long, { recursive: true });
  expect(thrownBy(() => new DatabaseSync(join(long, 'a')))).toMatch(
    /^the database cannot be opened: its path must be shorter than 512 bytes, .*\)$/,
  );
});

it("another user's file is named, and how to run commands", () => {
  const refused = Object.assign(new Error('EACCES: permission denied, open'), { code: 'EACCES' });
  expect(errorMessage(refused)).toMatch(/^this user may not .*: run every command as one user \(/);
});

function thrownBy(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return errorMessage(error);
  }
  throw new Error('nothing was thrown');
}

it('a file of SQLite that is damaged is named, and what to do', () => {
  const file = join(folder, 'damaged');
  const made = new DatabaseSync(file);
  made.exec('CREATE TABLE a (b); INSERT INTO a VALUES (1)');
  made.close();
  const PAGE_BYTES = 4096;
  writeFileSync(file, readFileSync(file).fill(0xff, PAGE_BYTES));
  const damaged = new DatabaseSync(file);
  onTestFinished(() => damaged.close());
  let thrown: unknown;
  try {
    damaged.exec('SELECT * FROM a');
  } catch (error) {
    thrown = error;
  }
  expect(errorMessage(thrown)).toMatch(/^the database file is damaged: .*, into a new folder \(/);
});
