/**
 * `npm run serve` started and killed again and again, on one folder and one port: whether each
 * start answers, or says in a sentence why not, and whether each death leaves no process.
 */
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { checkAddress } from '../../cli/lib/process/check-machine.ts';
import { WRANGLER } from '../../cli/lib/wrangler/run-wrangler.ts';
import { readWranglerConfig } from '../../cli/lib/wrangler/wrangler-config.ts';
import { prepareSample } from '../../cli/start/prepare-sample.ts';
import { temporaryFolder } from '../support/cli/script-process.ts';
import { freePort, type Launched, launch } from '../support/edge/launch.ts';
import { COMMAND, killProcess } from '../support/edge/npm-serve.ts';
import { freshRandom } from '../support/network/fresh-random.ts';

const ROUNDS = 13;

/** To start, or to end, on a busy machine. */
const PATIENCE_MS = 30_000;

/** A start takes about so long; it is killed at any moment of it. */
const START_MS = 3000;

const folder = temporaryFolder();
const persistTo = join(folder, 'state');
const port = await freePort();
const url = `http://127.0.0.1:${port}`;

const fillFolder = () => prepareSample(persistTo, readWranglerConfig(), () => {});

/** A process that is found, with all that come of it, by its environment. */
const start = (script: string, ...args: string[]) =>
  launch(process.execPath, ['--no-warnings', script, ...args], {
    detached: true,
    env: { STARTS_FOLDER: folder },
  });

const serve = () => start(COMMAND, 'serve', '--port', String(port), '--persist-to', persistTo);

const textOf = ({ log }: Launched) => log.join('\n');

/** Processes that came of a start. */
function processes(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
        return environment.includes(`STARTS_FOLDER=${folder}`);
      } catch {
        // it ended meanwhile, or is another user's
        return false;
      }
    })
    .map(Number);
}

const nameOf = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');

const until = <T>(look: () => T | Promise<T>) =>
  vi.waitFor(look, { timeout: PATIENCE_MS, interval: 20 });

/** The first process whose command line has the text, once there is one. */
const untilProcess = (text: string) =>
  until(() => {
    const found = processes().find((pid) => nameOf(pid).includes(text));
    expect(found, `a process of ${text}`).toBeDefined();
    return found!;
  });

const untilNoProcess = () => until(() => expect(processes().map(nameOf)).toEqual([]));

/** Whether the ledger is served, over a connection of its own. */
async function answers(): Promise<boolean> {
  const asked = fetch(`${url}/api/core/v2/info`, {
    headers: { connection: 'close' },
    signal: AbortSignal.timeout(5000),
  });
  return asked.then(
    ({ status }) => status === 200,
    () => false,
  );
}

/** Rejects if it ends before. */
async function untilAnswers(started: Launched): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; !(await answers()); await sleep(20)) {
    expect(started.child.exitCode, textOf(started)).toBe(null);
    expect(Date.now(), textOf(started)).toBeLessThan(end);
  }
}

async function served(): Promise<Launched> {
  const started = serve();
  await untilAnswers(started);
  return started;
}

function killGroup(started: Launched): void {
  try {
    started.signalGroup('SIGKILL');
  } catch (error) {
    // none of it runs any more
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Either it serves, and is killed, or it has ended by itself with this sentence. */
async function eitherServesOrSays(started: Launched, sentence: RegExp): Promise<void> {
  await Promise.race([once(started.child, 'exit'), untilAnswers(started).catch(() => {})]);
  if (started.child.exitCode !== null) return expect(textOf(started)).toMatch(sentence);
  expect(await answers(), textOf(started)).toBe(true);
  killGroup(started);
}

async function listenAt(host: string): Promise<Server> {
  const server = createServer().listen({ port, host, exclusive: true });
  await once(server, 'listening');
  return server;
}

/** What it printed, once it has ended by itself with the code. */
async function untilEnded(started: Launched, code: number): Promise<string> {
  await until(() => expect(started.child.exitCode, textOf(started)).toBe(code));
  return textOf(started);
}

/** After each case the next one starts at once, on the same folder and port. */
const CASES: readonly [name: string, run: () => Promise<unknown>][] = [
  ['the group is killed while it serves', async () => killGroup(await served())],
  [
    'the group is killed at any moment of the start, and it is started at once',
    async () => {
      const first = serve();
      await sleep(freshRandom().below(START_MS));
      killGroup(first);
      // the port may still be in use by workerd of the first one, which is about to end
      await eitherServesOrSays(serve(), /is in use|being served/);
    },
  ],
  [
    'the command is stopped, and the group then killed',
    async () => {
      const started = await served();
      // with the front, which is in it: nothing is answered
      started.child.kill('SIGSTOP');
      killGroup(started);
    },
  ],
  [
    'the host is stopped, and the group then killed',
    async () => {
      const started = await served();
      process.kill(await untilProcess('host.ts'), 'SIGSTOP');
      expect(await answers()).toBe(true);
      killGroup(started);
    },
  ],
  [
    'others listen at the port',
    async () => {
      for (const host of ['127.0.0.1', '0.0.0.0', '::']) {
        // what was killed has no memory any more before its sockets are closed
        await until(() => checkAddress(host, port));
        const server = await listenAt(host);
        expect(await untilEnded(serve(), 1)).toMatch(/^port \d+ of 127\.0\.0\.1 is in use: /);
        server.close();
        await once(server, 'close');
      }
    },
  ],
  [
    'another takes the port between the check and the start',
    async () => {
      const started = serve();
      await untilProcess('host.ts');
      const server = await listenAt('127.0.0.1').catch(() => undefined);
      if (server !== undefined) {
        expect(await untilEnded(started, 1)).toMatch(/in use/i);
        server.close();
      } else {
        // it was first
        await untilAnswers(started);
        killGroup(started);
      }
    },
  ],
  [
    'the folder is removed under it',
    async () => {
      const started = await served();
      // what serves may write a file meanwhile
      rmSync(persistTo, { recursive: true, maxRetries: 20, retryDelay: 20 });
      // any answer, in time
      await fetch(`${url}/health`, { signal: AbortSignal.timeout(5000) });
      started.child.kill('SIGTERM');
      await untilEnded(started, 0);
      await untilNoProcess();
      await fillFolder();
    },
  ],
  [
    'wrangler dev was killed on the folder and the port',
    async () => {
      const flags = ['--show-interactive-dev-session=false', '--ip', '127.0.0.1'];
      const own = ['--port', String(port), '--persist-to', persistTo];
      const dev = start(WRANGLER, 'dev', ...flags, ...own);
      await until(async () => expect(await answers(), textOf(dev)).toBe(true));
      // wrangler alone: what it started ends a little later
      dev.child.kill('SIGKILL');
      await eitherServesOrSays(serve(), /is in use/);
      await until(() =>
        expect(processes().map(nameOf).join('\n')).not.toMatch(/serve\.ts|host\.ts/),
      );
      // wrangler's own workerd outlives it: it listens and answers nothing
      for (const pid of processes()) killProcess(pid);
    },
  ],
];

beforeAll(fillFolder);
afterEach(() => {
  for (const pid of processes()) killProcess(pid);
});

describe.each([...Array(ROUNDS).keys()])('round %i', () => {
  it.each(CASES)('%s', async (_, run) => {
    await run();
    await untilNoProcess();
  });
});
