import { expect, it } from 'vitest';
import { createSteps, type StepName, stepOf } from '../../src/follower/steps.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Begins these steps at once, and tells in which order they began; no two run at once. */
async function orderOf(names: readonly StepName[], clock: () => number): Promise<string[]> {
  const run = createSteps(clock);
  const seen: string[] = [];
  let running = 0;
  await Promise.all(
    names.map((name, i) =>
      run(name, async () => {
        expect(++running).toBe(1);
        seen.push(`${name} ${i}`);
        await pause(2);
        running--;
      }),
    ),
  );
  return seen;
}

it('run one at a time, the most urgent first, and in the order of their coming', async () => {
  const names = ['scrub', 'drop', 'store', 'apply', 'store', 'apply'] as const;
  expect(await orderOf(names, () => 0)).toEqual([
    'scrub 0',
    'apply 3',
    'apply 5',
    'store 2',
    'store 4',
    'drop 1',
  ]);
});

it.each([1000, -1000])('that waited for a second come first: clock set by %s ms', async (step) => {
  let now = 0;
  const run = createSteps(() => now);
  const seen: string[] = [];
  const note = (name: string) => async () => void seen.push(name);
  const { promise, resolve } = Promise.withResolvers<void>();
  const steps = [run('apply', () => promise), run('scrub', note('scrub'))];
  now += step;
  steps.push(run('apply', note('apply')));
  resolve();
  await Promise.all(steps);
  expect(seen).toEqual(['scrub', 'apply']);
});

it('go on after one that fails, whose error says which it was', async () => {
  const run = createSteps(() => 0);
  const failure = new Error('fails');
  const results = await Promise.allSettled([
    run('drop', async () => {
      throw failure;
    }),
    run('prune', async () => 'pruned'),
  ]);
  expect(results).toEqual([
    { status: 'rejected', reason: failure },
    { status: 'fulfilled', value: 'pruned' },
  ]);
  expect(stepOf(failure)).toBe('drop');
  expect(stepOf(new Error('another'))).toBeUndefined();
});
