/**
 * What Linux says of a running workerd.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Edge } from '../../test/edge/edge.ts';

/** Process ID of workerd, the child of miniflare's process. */
export function workerdOf({ pid }: Edge): number {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return Number(child);
}

/** Resident memory now, and the most since {@link forgetPeak}, in MB of a million bytes. */
export function memoryOf(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const read = (name: string) => (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)![1]) * 1024) / 1e6;
  return { now: read('VmRSS'), peak: read('VmHWM') };
}

/** Begins the peak anew (proc(5), clear_refs). */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
