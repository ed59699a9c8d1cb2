/**
 * The built Worker in workerd, by miniflare: D1, KV and the Durable Objects are files below the
 * folder, the same that `wrangler dev --persist-to` and `stardust-edge import` have.
 *
 * The front (front/front.ts) connects to the Worker's own socket. Miniflare's entry, which
 * `wrangler dev` uses, has routes and headers for development, and is slower.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare';
import { writeLimitedLog, writeLog } from '../../src/platform/log.ts';
import { errorMessage } from '../lib/process/command-line.ts';
import { describeWorkers, type WorkerParts } from '../lib/wrangler/describe-workers.ts';
import { persistPath } from '../lib/wrangler/local-database.ts';

export interface WorkerOptions extends WorkerParts {
  persistTo: string;
  host: string;
  /** 0: any that is free. */
  port: number;
  /** Called with the new URL when workerd had died and was started again. */
  onRestart?: (url: URL) => void;
  /** Whether V8's inspector is on: for tests, which read the heap by it. */
  inspect?: boolean;
}

export type RunningWorker = Awaited<ReturnType<typeof runWorker>>;

type Scheduled = { scheduled(options: { cron: string }): Promise<unknown> };

/** Cron triggers, which Cloudflare calls each minute (wrangler.toml), do not run by themselves. */
const SCHEDULE_EVERY_MS = 60_000;

/**
 * Miniflare has 18 isolates, in each of which V8 lets garbage lie. With 30 % in place of 10 a siege
 * takes 55 MB more; without the first an isolate that does little grows to 60 MB.
 */
const V8_FLAGS = '--initial-old-space-size=4 --max-semi-space-size=1 --heap-growing-percent=10';

/**
 * What nobody would act on: at its start workerd notes that V8 has flags, and of a call that found
 * the database in use (src/ledger/open-ledger.ts makes it again) it prints a stack.
 */
const NO_NEWS = /bootstrap compile cache failed|database is locked: SQLITE_BUSY/;

/** Of the Worker, whose lines are bounded already (src/platform/log.ts). */
const OWN_LINE = /^\{"time":/;

/** Of workerd's own lines, which strangers may cause. */
const MAX_MESSAGE_LENGTH = 1000;

/** Milliseconds in which a signal that workerd got arrives here too. */
const SIGNALLED_WITHIN_MS = 200;

/** Writes a line of the Worker as it is, and one of workerd itself as long as they are few. */
export function relayLine({ level, message }: { level: string; message: string }): void {
  if (NO_NEWS.test(message)) return;
  const isBad = level === 'error' || level === 'warn';
  if (OWN_LINE.test(message)) (isBad ? process.stderr : process.stdout).write(`${message}\n`);
  else
    writeLimitedLog(isBad ? level : 'info', 'serve.workerd', {
      message: message.slice(0, MAX_MESSAGE_LENGTH),
    });
}

/** Resolves when it answers. Rejects with what miniflare says if it cannot. */
export async function runWorker(options: WorkerOptions) {
  const { folder, persistTo, host, port, config, vars, onRestart, inspect = false } = options;
  const [own, files] = describeWorkers({ folder, config, vars: { ...vars, ONE_ISOLATE: 'true' } });
  const made = convertV4MiniflareOptions({
    // miniflare's entry, at a port that is not printed
    host: '127.0.0.1',
    port: 0,
    cf: false,
    logRequests: false,
    log: new Log(LogLevel.WARN),
    handleStructuredLogs: relayLine,
    unsafeHandleRuntimeRestart: () => {
      void schedule();
      if (onRestart !== undefined) void miniflare.unsafeGetDirectURL().then(onRestart);
    },
    ...(inspect && { inspectorPort: 0 }),
    workers: [{ ...own, unsafeDirectSockets: [{ host, port }] }, files],
  });
  process.env.MINIFLARE_WORKERD_V8_FLAGS ??= V8_FLAGS;
  const miniflare = new Miniflare({ ...made, resourcePersistencePath: persistPath(persistTo) });

  let stopped = false;

  /** Wakes the follower. */
  async function schedule(): Promise<void> {
    try {
      // miniflare's types refer to a package that is not installed
      const worker = (await miniflare.getWorker()) as unknown as Scheduled;
      await worker.scheduled({ cron: '* * * * *' });
    } catch (error) {
      // a signal to all processes may have ended workerd before it arrived here
      await sleep(SIGNALLED_WITHIN_MS);
      if (stopped) return;
      // where there is no ledger yet, or workerd is being started again: tried again in a minute
      writeLog('error', 'serve.cron-failed', { error: errorMessage(error) });
    }
  }

  await miniflare.ready;
  const url = await miniflare.unsafeGetDirectURL();
  const inspector = inspect ? await miniflare.getInspectorURL() : undefined;
  void schedule();
  const timer = setInterval(() => void schedule(), SCHEDULE_EVERY_MS);
  return {
    url,
    /** Of V8, where it is on. */
    inspector,
    /** Rejects once workerd has died and cannot be started again. */
    check: (): Promise<unknown> => miniflare.ready,
    /** Ends it at once. Writes are transactions: each is done as a whole or not at all. */
    async stop(): Promise<void> {
      stopped = true;
      clearInterval(timer);
      await miniflare.dispose();
    },
  };
}
