/**
 * Timing: medians, since a machine that others use too makes single runs late, never early.
 */

/** Of an odd number the one in the middle, of an even number the lower one of the two. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('no median of nothing');
  return [...values].sort((a, b) => a - b)[(values.length - 1) >> 1]!;
}

/** Milliseconds that `work` takes. */
export async function time(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

export interface Rounds {
  /** Not counted, at the beginning; default 5. */
  warmUp?: number;
  /** Counted, 7 or more; default 15. */
  count?: number;
}

/** Milliseconds of each round of each work, in turns, so that what disturbs the machine disturbs all of them. */
export async function timeInTurns<Name extends string>(
  works: Record<Name, () => unknown>,
  { warmUp = 5, count = 15 }: Rounds = {},
): Promise<Record<Name, number[]>> {
  const names = Object.keys(works) as Name[];
  const times = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<
    Name,
    number[]
  >;
  for (let round = -warmUp; round < count; round++) {
    for (const name of names) {
      const ms = await time(works[name]);
      if (round >= 0) times[name].push(ms);
    }
  }
  return times;
}
