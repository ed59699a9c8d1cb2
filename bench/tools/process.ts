/**
 * What Linux tells of a running workerd.
 */
import { readFileSync } from 'node:fs';
import type { Edge } from '../../test/support/edge/edge.ts';

/** Process ID of workerd, the child of miniflare's process. */
export function workerdOf({ pid }: Edge): number {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return Number(child);
}

/** Resident memory, in MB of a million bytes. */
export function memoryOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return (Number(/^VmRSS:\s+(\d+) kB/m.exec(status)![1]) * 1024) / 1e6;
}

/** The processes that a process has started, and those that they have. */
export function descendantsOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  const children = text === '' ? [] : text.split(' ').map(Number);
  return [...children, ...children.flatMap(descendantsOf)];
}

/**
 * Memory of a process in MB of a million bytes, in which what several processes share is shared out
 * among them: so it can be added up.
 */
export function ownMemoryOf(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return (Number(/^Pss:\s+(\d+) kB/m.exec(rollup)![1]) * 1024) / 1e6;
}
