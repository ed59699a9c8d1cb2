/**
 * Workers that run while a piece of work is done.
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Edge, type EdgeOptions, startEdge } from '../../test/support/edge/edge.ts';

/** Starts a Worker, and stops it whatever happens. Its log is not read unless `quiet` is false. */
export async function withEdge<T>(
  options: EdgeOptions,
  work: (edge: Edge) => Promise<T>,
): Promise<T> {
  const edge = await startEdge({ quiet: true, byMiniflare: !options.asServe, ...options });
  try {
    return await work(edge);
  } finally {
    await edge.stop();
  }
}

/** Milestones that were applied, by the log; `time`: of the commit, Unix milliseconds. */
export function readApplied(log: readonly string[]): { index: number; ms: number; time: number }[] {
  return log
    .filter((line) => line.includes('"follower.milestone-applied"'))
    .map((line) => {
      const { index, ms, time } = JSON.parse(line);
      return { index, ms, time: Date.parse(time) };
    });
}

/** Starts the Worker of bench/probe/, without data. */
export function withProbe<T>(folder: string, work: (probe: Edge) => Promise<T>): Promise<T> {
  return withEdge({ folder, persistTo: join(tmpdir(), 'stardust-edge-node', 'probe') }, work);
}
