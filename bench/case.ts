/**
 * What a benchmark is: a named, repeatable case that asserts first that what it is going to time is right, and reports figures.
 */
export interface BenchCase {
  name: string;
  /** One sentence. */
  about: string;
  run(bench: Bench): Promise<void>;
}

export interface Bench {
  /** Our Worker, bundled and minified. */
  worker: string;
  /** The Worker that it is compared with (probe/worker.ts), bundled likewise. */
  probe: string;
  report(figure: Figure): void;
}

export interface Figure {
  name: string;
  value: number;
  unit: 'ms' | 'µs' | 'MB' | 'a second' | 'times';
  /** What must hold of the value: nothing is said where there is none. */
  target?: { most: number } | { least: number };
}

/** A piece of work in this process. */
export interface TimedWork {
  name: string;
  /** The most that one run may take once warm, in milliseconds. */
  limit: number;
  /** Gets everything ready, asserts that what is to be timed is right, and returns it. */
  prepare(): () => unknown;
}

export function holds({ value, target }: Figure): boolean {
  if (target === undefined) return true;
  return 'most' in target ? value <= target.most : value >= target.least;
}
