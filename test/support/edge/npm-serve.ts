/**
 * `npm run serve` as a process: start, stop, and kill any of the processes of which it consists.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const PROJECT = join(import.meta.dirname, '../../..');

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
  vars: Record<string, string> = {},
): Promise<Served> {
  const child = spawn(
    process.execPath,
    [join(PROJECT, 'scripts/stardust-edge.js'), 'serve', ...flags],
    {
      cwd: PROJECT,
      env: { ...process.env, ...vars },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const log: string[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', (line) => {
      log.push(line);
      const url = /^Serving .* at (http:.*)\/$/.exec(line)?.[1];
      if (url !== undefined) resolve(url);
    });
  }
  child.once('exit', (code) => reject(new Error(`serve ended with ${code}:\n${log.join('\n')}`)));
  const url = await promise;
  const processes = (): Processes => {
    const host = childOf(child.pid!);
    const workerd = host && childOf(host);
    return { serve: child.pid!, ...(host && { host }), ...(workerd && { workerd }) };
  };
  return {
    url,
    log,
    processes,
    async stop() {
      const all = Object.values(processes());
      const code = await end(child, () => child.kill('SIGTERM'));
      await untilGone(all);
      return code;
    },
    async kill(whom) {
      const all = Object.values(processes());
      const killed = whom === 'all' ? all : [child.pid!];
      await end(child, () => {
        for (const pid of killed) killProcess(pid);
      });
      await untilGone(all);
    },
  };
}

async function end(child: ChildProcess, signal: () => void): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exit = once(child, 'exit');
  signal();
  const [code] = await exit;
  return code as number | null;
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
