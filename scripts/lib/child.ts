/**
 * Children that bring processes of their own: with all of them, a child is one process group, and goes when we go, however we go.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROJECT } from './wrangler-config.ts';

const GUARD = join(import.meta.dirname, 'die-with-parent.ts');

/** Milliseconds that a child gets to end by itself. */
const GRACE = 3000;

export interface Child {
  /** Messages that it sends. */
  onMessage(listener: (message: unknown) => void): void;
  /** Its exit code. */
  ended: Promise<number>;
  /** Ends it and all that it started. */
  stop(): Promise<void>;
}

/** Runs a script of Node, which writes where we write. */
export function startChild(
  script: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Child {
  const child = spawn(process.execPath, ['--no-warnings', '--import', GUARD, script, ...args], {
    cwd: PROJECT,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = new Promise<number>((resolve) => {
    child.once('error', () => resolve(1));
    child.once('exit', (code) => resolve(code ?? 1));
  });
  return {
    onMessage: (listener) => void child.on('message', listener),
    ended,
    stop: () => stop(child, ended),
  };
}

async function stop(child: ChildProcess, ended: Promise<number>): Promise<void> {
  signalGroup(child, 'SIGTERM');
  await Promise.race([ended, sleep(GRACE, undefined, { ref: false })]);
  signalGroup(child, 'SIGKILL');
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // all of it has ended
  }
}
