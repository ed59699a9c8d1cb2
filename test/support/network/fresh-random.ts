/**
 * Chance for tests in which something is cut or killed at any moment. Each run has a seed of its own;
 * a test that fails prints it, and SEED in the environment repeats it.
 */
import { onTestFailed } from 'vitest';
import { Random } from './random.ts';

/** To be called within a test. */
export function freshRandom(): Random {
  const seed = process.env.SEED ?? crypto.randomUUID();
  onTestFailed(() => console.error(`The same chance again: SEED=${seed}`));
  return new Random(seed);
}
