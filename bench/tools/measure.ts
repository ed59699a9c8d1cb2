/**
 * Timing by medians: other work on the machine makes single runs late, never early.
 */

/** Of an odd number the one in the middle, of an even number the lower one of the two. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('no median of nothing');
  return [...values].sort((a, b) => a - b)[(values.length - 1) >> 1]!;
}

/** What so many percent of the values are not above. */
export function percentile(values: readonly number[], percent: number): number {
  if (values.length === 0) throw new RangeError('no percentile of nothing');
  return [...values].sort((a, b) => a - b)[Math.ceil((values.length * percent) / 100) - 1]!;
}

/** Milliseconds that `work` takes. */
export async function time(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
