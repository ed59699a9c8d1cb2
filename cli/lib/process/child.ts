/**
 * Child processes that start processes of their own. Each child is one process group with all that
 * it starts, and is killed when this process dies, even by SIGKILL, and even if the child is
 * stopped. Windows has no groups and no sh: there a child that outlives this process has to see that
 * its channel is closed.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROJECT } from '../project.ts';

/**
 * For sh, with the number of a process group: kills the group when the input ends, which is when
 * the process that writes to it dies.
 */
const KILL_AT_END = `trap '' HUP INT TERM; read _; kill -KILL -$0`;

const HAS_GROUPS = process.platform !== 'win32';

/** Milliseconds that a child has to end by itself before it is killed. */
const GRACE_MS = 3000;

export interface Child {
  send(message: object): void;
  /** Calls the listener with each message that the child sends. */
  onMessage(listener: (message: unknown) => void): void;
  /** Its exit code. */
  ended: Promise<number>;
  /** Ends it and all that it started. */
  stop(): Promise<void>;
}

export interface ChildOptions {
  /** Added to the environment of this process. */
  env?: Record<string, string>;
  nodeFlags?: readonly string[];
}

/** Runs a script in Node. Its output goes where the output of this process goes. */
export function startChild(
  script: string,
  args: readonly string[],
  { env = {}, nodeFlags = [] }: ChildOptions = {},
): Child {
  const child = spawn(process.execPath, ['--no-warnings', ...nodeFlags, script, ...args], {
    cwd: PROJECT,
    env: { ...process.env, ...env },
    detached: HAS_GROUPS,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  if (HAS_GROUPS) guardGroup(child);
  const ended = new Promise<number>((resolve) => {
    child.once('error', () => resolve(1));
    child.once('exit', (code) => resolve(code ?? 1));
  });
  return {
    // one that has died says so by `ended`
    send: (message) => void child.send(message, () => {}),
    onMessage: (listener) => void child.on('message', listener),
    ended,
    stop: () => stop(child, ended),
  };
}

/** Not by the child itself: that may be stopped or busy. */
function guardGroup(child: ChildProcess): void {
  const guard = spawn('sh', ['-c', KILL_AT_END, String(child.pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  child.once('exit', () => guard.kill('SIGKILL'));
}

/** SIGTERM goes to the child alone: it takes a dead child of its own for a failure. */
async function stop(child: ChildProcess, ended: Promise<number>): Promise<void> {
  child.kill('SIGTERM');
  await Promise.race([ended, sleep(GRACE_MS, undefined, { ref: false })]);
  killGroup(child);
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  if (!HAS_GROUPS) {
    spawnSync('taskkill', ['/PID', String(pid), '/T', '/F'], { stdio: 'ignore' });
    return;
  }
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // no process of the group is left
  }
}
