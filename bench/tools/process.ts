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
