/**
 * `npm run serve` as a process: start, stop, and kill any of the processes of which it consists;
 * and `npm start`.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, launch } from './launch.ts';

/** Of the project's folder. */
export const COMMAND = 'cli/stardust-edge.js';

/** The command, the process that has miniflare, and workerd: each one the child of the last. */
export interface Processes {
  serve: number;
  /** These two are absent while they are being started again. */
  host?: number;
  workerd?: number;
}

export interface Served {
  /** Without a slash at the end. */
  url: string;
  /** Lines of both outputs since the start. */
  log: string[];
  processes(): Processes;
  /** SIGTERM to the command; its exit code, once no process is left. */
  stop(): Promise<number | null>;
  /** SIGKILL to the command, or to all of them at once; resolves once no process is left. */
  kill(whom: 'serve' | 'all'): Promise<void>;
}

/** Resolves when it says that it listens. */
export async function startServe(
  flags: readonly string[],
  env: Record<string, string> = {},
): Promise<Served> {
  const { child, log, until, end } = launch(process.execPath, [COMMAND, 'serve', ...flags], {
    env,
  });
  const [, url] = await until(/^Serving .* at (http:.*)\/$/);
  const processes = (): Processes => {
    const host = childOf(child.pid!);
    const workerd = host && childOf(host);
    return { serve: child.pid!, ...(host && { host }), ...(workerd && { workerd }) };
  };
  const endAll = async (kill: (all: number[]) => unknown) => {
    const all: number[] = Object.values(processes());
    const code = await end(() => kill(all));
    await untilGone(all);
    return code;
  };
  return {
    url: url!,
    log,
    processes,
    stop: () => endAll(() => child.kill('SIGTERM')),
    kill: async (whom) =>
      void (await endAll((all) => (whom === 'all' ? all : [child.pid!]).forEach(killProcess))),
  };
}

/** `npm start` itself, as the README has it; resolves when it has printed both of its requests. */
export async function npmStart(persistTo: string): Promise<Pick<Served, 'url' | 'stop'>> {
  const flags = ['--port', String(await freePort()), '--persist-to', persistTo];
  const launched = launch('npm', ['start', '--', ...flags], { detached: true });
  const [, url] = await launched.until(/^Serving .*? at (http:\S+)\. /);
  await launched.until(/"appliedMerkleRoot"/);
  return { url: url!, stop: () => launched.end(() => launched.signalGroup('SIGTERM')) };
}

/** SIGKILL to one process; false if it is gone already. */
export function killProcess(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

/** Undefined where it has none, or is gone. */
function childOf(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return Number(text.trim().split(' ')[0]) || undefined;
  } catch {
    return undefined;
  }
}

/** Throws if they are still there after ten seconds. */
async function untilGone(pids: readonly number[]): Promise<void> {
  for (let tries = 0; pids.some(isThere); tries++) {
    if (tries === 1000) throw new Error(`processes ${pids.filter(isThere)} outlive serve`);
    await sleep(10);
  }
}

function isThere(pid: number): boolean {
  try {
    // what is dead and not waited for yet does nothing any more
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
