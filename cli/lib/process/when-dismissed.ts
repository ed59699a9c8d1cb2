/**
 * When a long-running command has to end.
 */
import { readFileSync } from 'node:fs';
import { WAITED_FOR_BY } from '../runtime.js';

/** Between two checks whether npm, which started this process, is still there. */
const LOOK_EVERY_MS = 500;

/** Calls `end` on a signal that ends processes, or when npm is gone. */
export function whenDismissed(end: () => void): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const shell = process.env[WAITED_FOR_BY] === String(parent) ? parentOf(parent) : parent;
  const npm = parentOf(shell);
  setInterval(() => {
    if (process.ppid !== parent || parentOf(shell) !== npm) end();
  }, LOOK_EVERY_MS).unref();
}

/** npm runs scripts by a shell, which outlives it. Undefined on systems without /proc. */
function parentOf(pid: number | undefined): number | undefined {
  try {
    return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return undefined;
  }
}
