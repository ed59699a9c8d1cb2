/**
 * A running Worker for tests over HTTP: start, stop, kill.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface Edge {
  url: string;
  /** Lines of log since the start. */
  log: string[];
  /** Resolves to the next line like this, to undefined if none comes for so many milliseconds. */
  nextLine(like: RegExp, milliseconds: number): Promise<string | undefined>;
  /** Process IDs of miniflare's parent process; workerd is its child. */
  pid: number;
  /** Where V8's inspector of the isolates is, if it was asked for. */
  inspector?: string;
  stop(): Promise<void>;
  /** SIGKILL to everything at once. */
  kill(): Promise<void>;
}

export interface EdgeOptions {
  /** What buildWorker built. */
  folder: string;
  persistTo: string;
  vars?: Record<string, string>;
  port?: number;
  /** Whether the log is left unread, so that a bench does not measure its readers. */
  quiet?: boolean;
  /** Whether V8's inspector is on. */
  inspect?: boolean;
  /**
   * Megabytes of V8's old space, as the platform limits it; by default V8 collects when it likes.
   */
  oldSpaceMb?: number;
  /** Whether it is run as `npm run serve` does. */
  asServe?: boolean;
  /**
   * Whether requests come by way of miniflare's own Worker, as in `wrangler dev`, which takes
   * longer than ours; by default clients are connected to ours.
   */
  byMiniflare?: boolean;
  /** White-flag requests a minute from one address; without it there is no limit. */
  whiteFlagLimit?: number;
}

/** Resolves when the Worker answers. */
export async function startEdge({ oldSpaceMb, ...options }: EdgeOptions): Promise<Edge> {
  const argument = JSON.stringify({ vars: {}, port: 0, quiet: false, inspect: false, ...options });
  const child = spawn(process.execPath, [join(import.meta.dirname, 'serve.ts'), argument], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: {
      ...process.env,
      ...(oldSpaceMb && { MINIFLARE_WORKERD_V8_FLAGS: `--max-old-space-size=${oldSpaceMb}` }),
    },
  });
  const log: string[] = [];
  const logged = new EventEmitter().setMaxListeners(0);
  const take = (line: string) => {
    log.push(line);
    logged.emit('line', line);
  };
  createInterface({ input: child.stderr! }).on('line', take);
  const lines = createInterface({ input: child.stdout! });
  const { url, inspector } = await new Promise<{ url: string; inspector?: string }>(
    (resolve, reject) => {
      lines.on('line', (line) => {
        take(line);
        if (line.startsWith('{"url":')) resolve(JSON.parse(line));
      });
      child.once('exit', (code) =>
        reject(new Error(`the Worker did not start (${code}):\n${log.join('\n')}`)),
      );
    },
  );
  return {
    url,
    log,
    nextLine: (like, milliseconds) =>
      new Promise((resolve) => {
        const end = (line?: string) => {
          clearTimeout(timer);
          logged.off('line', look);
          resolve(line);
        };
        const look = (line: string) => like.test(line) && end(line);
        const timer = setTimeout(end, milliseconds);
        logged.on('line', look);
      }),
    pid: child.pid!,
    ...(inspector !== undefined && { inspector }),
    stop: () => end(child, 'SIGTERM'),
    kill: () => end(child, 'SIGKILL'),
  };
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  process.kill(-child.pid!, signal);
  await exit;
}
