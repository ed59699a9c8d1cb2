/**
 * What a benchmark is: a named, repeatable case that first asserts that what it times is right, and
 * then reports figures.
 */
import type { Rate } from './tools/rate.ts';

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
  /** Ours with a broker that counts (counted/worker.ts), bundled likewise. */
  counted: string;
  /** Path of the SVG that the case `growth` draws. Absent: none is drawn. */
  picture?: string;
  /** How long the case `feed` pushes. Absent: 60. */
  seconds?: number;
  /** What the case `cost` counts at. Absent: that of docs/operations.md. */
  rate?: Rate;
  /** Whether the case `cost` indexes every kind of output. Absent: NFTs alone. */
  indexAll?: boolean;
  report(figure: Figure): void;
}

export interface Figure {
  name: string;
  value: number;
  /** Empty: a number of what the name says. */
  unit: '' | '$' | 'ms' | 'µs' | 'KB' | 'MB' | 'a second' | 'times';
  /** What must hold of the value, if anything. */
  target?: { most: number } | { least: number };
}

export function holds({ value, target }: Figure): boolean {
  if (target === undefined) return true;
  return 'most' in target ? value <= target.most : value >= target.least;
}
