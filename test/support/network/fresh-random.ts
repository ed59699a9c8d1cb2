/**
 * Random choices of tests. In `npm test` they are the same in each run, as some tests require that
 * each outcome occurs. In `npm run test:slow` each run has a seed of its own; a test that fails
 * prints it, and SEED in the environment repeats it.
 */
import { expect, onTestFailed } from 'vitest';
import { Random } from './random.ts';

/** To be called within a test. */
export function freshRandom(): Random {
  const { SEED, SLOW } = process.env;
  const seed = SEED ?? (SLOW ? crypto.randomUUID() : expect.getState().currentTestName!);
  onTestFailed(() => console.error(`The same chance again: SEED=${seed}`));
  return new Random(seed);
}
