/**
 * The process in which `npm run serve` runs the Worker. Its parent sends it HostOptions, perhaps
 * long after it was started. It sends the Worker's URL to its parent, each time that workerd was
 * started, and exits when workerd cannot be restarted.
 *
 * It reads the settings itself, because secrets on a command line are visible to every user.
 */
import { once } from 'node:events';
import { isClockUsable } from '../lib/process/check-machine.ts';
import { errorMessage, outliveReaders } from '../lib/process/command-line.ts';
import { keepCode } from '../lib/process/compile-cache.ts';
import { readVars } from '../lib/wrangler/read-vars.ts';
import { readWranglerConfig, type WranglerConfig } from '../lib/wrangler/wrangler-config.ts';
import { type RunningWorker, runWorker } from './run-worker.ts';

export interface HostOptions {
  /** A copy of what builtWorker built. */
  folder: string;
  persistTo: string;
}

/** Between two checks of workerd and of the clock. */
const CHECK_EVERY_MS = 1000;

/** Of the system's clock: a shorter step back is waited for. */
const MAX_STEP_BACK_MS = 10_000;

let worker: RunningWorker | undefined;
let ending = false;
let clockAhead = readClockAhead();
let wasSetBack = false;

// what workerd writes is for this user alone
process.umask(0o077);

// before miniflare's own listeners, which end the process before it has ended workerd
listenForSignals();

// miniflare hears of no workerd that does not start
process.on('uncaughtException', ({ message, stack, syscall }: NodeJS.ErrnoException) =>
  fail(syscall?.startsWith('spawn') ? `workerd does not run on this machine: ${message}` : stack),
);

outliveReaders();
const [options] = (await once(process, 'message')) as [HostOptions];
try {
  const config = readWranglerConfig();
  const vars = readVars(config, process.env);
  // the front (front/front.ts) is where clients connect
  const address = { host: '127.0.0.1', port: 0 };
  const running = await runWorker({ ...options, ...address, config, vars, onRestart: tell });
  worker = running;
  listenForSignals();
  setInterval(() => {
    void running.check().catch(fail);
    watchClock(config);
  }, CHECK_EVERY_MS);
  tell(running.url);
  keepCode();
} catch (error) {
  fail(error);
}

function tell(url: URL): void {
  process.send?.({ url: url.href });
}

/** Milliseconds: it changes where the system's clock is set, alone. */
function readClockAhead(): number {
  return Date.now() - performance.now();
}

/**
 * workerd's timers are due by the system's clock. If that is set back by an hour, those of the
 * follower wait for an hour, and once it is put right later ones wait behind them.
 */
function watchClock(config: WranglerConfig): void {
  const before = clockAhead;
  clockAhead = readClockAhead();
  wasSetBack ||= clockAhead < before - MAX_STEP_BACK_MS;
  // until then no workerd starts, and the one that runs answers reads
  if (wasSetBack && isClockUsable(config))
    fail('The clock was set back: workerd would wait until it is as late again');
}

function listenForSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.removeAllListeners(signal);
    process.on(signal, () => void end());
  }
  // the process that started this one is gone
  process.on('disconnect', () => void end());
}

/** Runs once: Ctrl-C and systemd signal several processes, so a signal arrives here twice. */
async function end(): Promise<void> {
  if (ending) return;
  ending = true;
  await worker?.stop();
  process.exit(0);
}

function fail(error: unknown): void {
  // failures while it ends are expected
  if (ending) return;
  console.error(errorMessage(error));
  process.exit(1);
}
