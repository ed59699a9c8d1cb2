/**
 * A running Worker for tests over HTTP: start, stop, kill.
 */
import { join } from 'node:path';
import { type Launched, launch } from './launch.ts';

export interface Edge extends Pick<Launched, 'log' | 'nextLine'> {
  url: string;
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
  const script = join(import.meta.dirname, 'serve.ts');
  const launched = launch(process.execPath, [script, JSON.stringify(options)], {
    detached: true,
    env: oldSpaceMb ? { MINIFLARE_WORKERD_V8_FLAGS: `--max-old-space-size=${oldSpaceMb}` } : {},
  });
  const { child, log, nextLine, until, end, signalGroup } = launched;
  const [line] = await until(/^\{"url":.*/);
  return {
    ...(JSON.parse(line) as Pick<Edge, 'url' | 'inspector'>),
    log,
    nextLine,
    pid: child.pid!,
    stop: async () => void (await end(() => signalGroup('SIGTERM'))),
    kill: async () => void (await end(() => signalGroup('SIGKILL'))),
  };
}
