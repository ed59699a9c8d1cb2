/**
 * When a long-running command has to end.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { WAITED_FOR_BY } from '../runtime.js';

/** Between two checks whether npm, which started this process, is still there. */
const LOOK_EVERY_MS = 500;

/** Calls `end` on a signal that ends processes, or when npm is gone. */
export function whenDismissed(end: () => void): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const script = process.env[WAITED_FOR_BY] === String(parent) ? parent : process.pid;
  const shell = parentOf(script);
  const npm = isNpm(shell) ? shell : parentOf(shell);
  setInterval(() => {
    const isChild = process.ppid === parent && parentOf(script) === shell;
    if (!isChild || (shell !== npm && parentOf(shell) !== npm)) end();
  }, LOOK_EVERY_MS).unref();
}

/**
 * npm runs scripts by a shell, which outlives it. One such as bash becomes the script, so that npm
 * is its parent; whose child npm is does not matter.
 */
function isNpm(pid: number | undefined): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`) === process.env.npm_node_execpath;
  } catch {
    return false;
  }
}

/** Undefined on systems without /proc. */
function parentOf(pid: number | undefined): number | undefined {
  try {
    return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return undefined;
  }
}
