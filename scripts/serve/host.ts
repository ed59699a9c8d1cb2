/**
 * The process in which `npm run serve` runs the Worker: `node host.ts OPTIONS`, options in JSON. It
 * tells its parent where the Worker listens, and ends when that cannot go on.
 *
 * Settings are read here and not handed over: a command line can be read by everybody.
 */
import { errorMessage } from '../lib/process/command-line.ts';
import { readVars } from '../lib/wrangler/read-vars.ts';
import { readWranglerConfig } from '../lib/wrangler/wrangler-config.ts';
import { type RunningWorker, runWorker } from './run-worker.ts';

export interface HostOptions {
  /** What builtWorker built. */
  folder: string;
  persistTo: string;
  host: string;
  port: number;
}

/** Between two looks whether workerd can still be started. */
const CHECK_EVERY_MS = 1000;

/** Undefined until it answers. */
let worker: RunningWorker | undefined;
let ending = false;

// before miniflare's own listeners, which end the process before it has ended workerd
listenForSignals();

const options = JSON.parse(process.argv[2]!) as HostOptions;
const config = readWranglerConfig();
const vars = { ...readVars(config, process.env) };
try {
  const running = await runWorker({ ...options, config, vars });
  worker = running;
  listenForSignals();
  setInterval(() => void running.check().catch(fail), CHECK_EVERY_MS);
  process.send?.({ url: running.url.href });
} catch (error) {
  fail(error);
}

function listenForSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.removeAllListeners(signal);
    process.on(signal, () => void end());
  }
}

/** Once: Ctrl-C and systemd send a signal to several processes, and so it comes here twice. */
async function end(): Promise<void> {
  if (ending) return;
  ending = true;
  await worker?.stop();
  process.exit(0);
}

function fail(error: unknown): void {
  // what fails because it is being ended is no failure
  if (ending) return;
  console.error(errorMessage(error));
  process.exit(1);
}
