/**
 * The process in which `npm run serve` runs the Worker: `node host.ts OPTIONS`, options in JSON. It
 * tells its parent where the Worker listens, and ends when that cannot go on.
 *
 * Settings are read here and not handed over: a command line can be read by everybody.
 */
import { errorMessage } from '../process/command-line.ts';
import { readWranglerConfig } from '../wrangler/wrangler-config.ts';
import { readVars } from './read-vars.ts';
import { runWorker } from './run-worker.ts';

export interface HostOptions {
  /** What builtWorker built. */
  folder: string;
  persistTo: string;
  host: string;
  port: number;
}

/** Between two looks whether workerd can still be started. */
const CHECK_EVERY_MS = 1000;

const options = JSON.parse(process.argv[2]!) as HostOptions;
const config = readWranglerConfig();
const vars = { ...readVars(config, process.env) };
try {
  const worker = await runWorker({ ...options, config, vars });
  // miniflare's own listeners end the process before it has ended workerd
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.removeAllListeners(signal);
    process.on(signal, () => void worker.stop().then(() => process.exit(0)));
  }
  setInterval(() => void worker.check().catch(fail), CHECK_EVERY_MS);
  process.send?.({ url: worker.url.href });
} catch (error) {
  fail(error);
}

function fail(error: unknown): never {
  console.error(errorMessage(error));
  process.exit(1);
}
