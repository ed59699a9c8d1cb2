/**
 * `npm run serve` started and killed again and again, on one folder and one port: whether each
 * start answers, or says in a sentence why not, and whether each death leaves no process.
 */
import { strict as assert } from 'node:assert';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runMain, UsageError } from '../../scripts/lib/process/command-line.ts';
import { PROJECT } from '../../scripts/lib/project.ts';
import { WRANGLER } from '../../scripts/lib/wrangler/run-wrangler.ts';
import { readWranglerConfig } from '../../scripts/lib/wrangler/wrangler-config.ts';
import { checkAddress } from '../../scripts/serve/check-start.ts';
import { prepareSample } from '../../scripts/start/prepare-sample.ts';
import { type Random, tellRandom } from '../support/network/random.ts';

/** To start, or to end, on a busy machine. */
const PATIENCE_MS = 30_000;

/** A start takes about so long; it is killed at any moment of it. */
const START_MS = 3000;

const folder = mkdtempSync(join(tmpdir(), 'starts-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const persistTo = join(folder, 'state');

/** In the environment of each process that comes of a start, by which it is found. */
const MARK = `STARTS_FOLDER=${folder}`;

interface Start {
  child: ChildProcess;
  /** What it printed. */
  text(): string;
}

/** A process group of its own, as a shell makes for a command. */
function start(script: string, ...args: string[]): Start {
  const child = spawn(process.execPath, ['--no-warnings', script, ...args], {
    cwd: PROJECT,
    env: { ...process.env, STARTS_FOLDER: folder },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
  return { child, text: () => text };
}

const serve = (port: number) =>
  start('scripts/stardust-edge.js', 'serve', '--port', String(port), '--persist-to', persistTo);

const killGroup = ({ child }: Start) => process.kill(-child.pid!, 'SIGKILL');

/** Processes that came of a start. */
function processes(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(MARK);
      } catch {
        // it ended meanwhile, or is another user's
        return false;
      }
    })
    .map(Number);
}

const nameOf = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');

/** The first process whose command line has the text, once there is one. */
async function untilProcess(text: string): Promise<number> {
  let found: number | undefined;
  await until(`no process of ${text}`, () => {
    found = processes().find((pid) => nameOf(pid).includes(text));
    return found !== undefined;
  });
  return found!;
}

async function until(problem: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  while (!(await condition())) {
    assert(Date.now() < end, problem);
    await sleep(20);
  }
}

async function untilNoProcess(): Promise<void> {
  await until('processes live on', () => processes().length === 0).catch((error) => {
    const left = processes();
    for (const pid of left) console.error(pid, nameOf(pid));
    for (const pid of left) process.kill(pid, 'SIGKILL');
    throw error;
  });
}

/** Whether the ledger is served, over a connection of its own. */
async function answers(port: number): Promise<boolean> {
  try {
    const { status } = await fetch(`http://127.0.0.1:${port}/api/core/v2/info`, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(5000),
    });
    return status === 200;
  } catch {
    return false;
  }
}

async function untilAnswers(port: number, started: Start): Promise<void> {
  await until(`no answer: ${started.text()}`, () => {
    assert.equal(started.child.exitCode, null, started.text());
    return answers(port);
  });
}

async function listen(port: number, host: string): Promise<Server> {
  const server = createServer().listen({ port, host, exclusive: true });
  await once(server, 'listening');
  return server;
}

/** Resolves with what it printed, once it has ended by itself with the code. */
async function untilEnded({ child, text }: Start, code: number): Promise<string> {
  await until(`it goes on: ${text()}`, () => child.exitCode !== null);
  assert.equal(child.exitCode, code, text());
  return text();
}

const isTrue = () => true;
const isFalse = () => false;

interface Case {
  name: string;
  run(port: number, random: Random): Promise<void>;
}

/** After each case the next one starts at once, on the same folder and port. */
const CASES: readonly Case[] = [
  {
    name: 'the group is killed while it serves',
    async run(port) {
      const started = serve(port);
      await untilAnswers(port, started);
      killGroup(started);
      await untilNoProcess();
    },
  },
  {
    name: 'the group is killed at any moment of the start, and it is started at once',
    async run(port, random) {
      const first = serve(port);
      await sleep(random.below(START_MS));
      killGroup(first);
      const second = serve(port);
      // the port may still be in use by workerd of the first one, which is about to end
      await Promise.race([once(second.child, 'exit'), untilAnswers(port, second).catch(() => {})]);
      if (second.child.exitCode !== null) assert.match(second.text(), /is in use|being served/);
      else killGroup(second);
      await untilNoProcess();
    },
  },
  {
    name: 'the command is stopped, and the group then killed',
    async run(port) {
      const started = serve(port);
      await untilAnswers(port, started);
      started.child.kill('SIGSTOP');
      assert(await answers(port));
      killGroup(started);
      await untilNoProcess();
    },
  },
  {
    name: 'the host is stopped, and the group then killed',
    async run(port) {
      const started = serve(port);
      await untilAnswers(port, started);
      process.kill(await untilProcess('host.ts'), 'SIGSTOP');
      assert(await answers(port));
      killGroup(started);
      await untilNoProcess();
    },
  },
  {
    name: 'others listen at the port',
    async run(port) {
      for (const host of ['127.0.0.1', '0.0.0.0', '::']) {
        // what was killed has no memory any more before its sockets are closed
        await until('the port stays in use', () => checkAddress(host, port).then(isTrue, isFalse));
        const server = await listen(port, host);
        assert.match(await untilEnded(serve(port), 1), /^port \d+ of 127\.0\.0\.1 is in use: /);
        server.close();
        await once(server, 'close');
      }
      await untilNoProcess();
    },
  },
  {
    name: 'another takes the port between the check and the start',
    async run(port) {
      const started = serve(port);
      await untilProcess('host.ts');
      const server = await listen(port, '127.0.0.1').catch(() => undefined);
      // it was first
      if (server === undefined) {
        await untilAnswers(port, started);
        killGroup(started);
      } else {
        assert.match(await untilEnded(started, 1), /in use/i);
        server.close();
      }
      await untilNoProcess();
    },
  },
  {
    name: 'the folder is removed under it',
    async run(port) {
      const started = serve(port);
      await untilAnswers(port, started);
      rmSync(persistTo, { recursive: true });
      // any answer, in time
      await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(5000) });
      started.child.kill('SIGTERM');
      await untilEnded(started, 0);
      await untilNoProcess();
      await prepareSample(persistTo, readWranglerConfig(), () => {});
    },
  },
  {
    name: 'wrangler dev was killed on the folder and the port',
    async run(port) {
      const dev = start(
        ...([
          WRANGLER,
          'dev',
          '--show-interactive-dev-session=false',
          '--ip',
          '127.0.0.1',
        ] as const),
        ...['--port', String(port), '--persist-to', persistTo],
      );
      await until(`no wrangler dev: ${dev.text()}`, () => answers(port));
      // wrangler alone: what it started ends a little later
      dev.child.kill('SIGKILL');
      const started = serve(port);
      await Promise.race([
        once(started.child, 'exit'),
        untilAnswers(port, started).catch(() => {}),
      ]);
      if (started.child.exitCode !== null) assert.match(started.text(), /is in use/);
      else {
        assert(await answers(port), started.text());
        killGroup(started);
      }
      await until('serve lives on', () =>
        processes().every((pid) => !/serve\.ts|host\.ts/.test(nameOf(pid))),
      );
      // wrangler's own workerd outlives it: it listens and answers nothing
      for (const pid of processes()) process.kill(pid, 'SIGKILL');
      await untilNoProcess();
    },
  },
];

const USAGE = `Usage: npx node test/slow/starts.ts [ROUNDS] [CASE]

Starts and kills npm run serve in each of ${CASES.length} ways, ROUNDS times, by default 13: about a hundred
starts. CASE runs only the one at that place, from 0.`;

await runMain(USAGE, async (args) => {
  const { positionals } = parseArgs({ args, allowPositionals: true });
  const [rounds = 13, only, ...others] = positionals.map(Number);
  if (!Number.isSafeInteger(rounds) || others.length > 0)
    throw new UsageError('the number of rounds is a whole number');
  const random = tellRandom();
  const free = await listen(0, '127.0.0.1');
  const { port } = free.address() as { port: number };
  free.close();
  await prepareSample(persistTo, readWranglerConfig(), () => {});
  let failed = 0;
  for (let round = 0; round < rounds; round++) {
    for (const [place, { name, run }] of CASES.entries()) {
      if (only !== undefined && place !== only) continue;
      const started = Date.now();
      const result = await run(port, random).then(
        () => 'as expected',
        (error: unknown) => {
          failed++;
          return `FAILED: ${error instanceof Error ? error.message : error}`;
        },
      );
      await untilNoProcess().catch(() => {});
      console.log(`${round} ${name}: ${result} (${Date.now() - started} ms)`);
    }
  }
  return failed === 0 ? 0 : 1;
});
