import { expect, it } from 'vitest';
import { createExclusively, createShared } from '../../src/follower/exclusively.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it('works wait for those before them, also for one that fails', async () => {
  const exclusively = createExclusively();
  const seen: string[] = [];
  const work = (name: string, ms: number, fails = false) =>
    exclusively(async () => {
      seen.push(`${name} begins`);
      await pause(ms);
      seen.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    });
  const results = await Promise.allSettled([work('a', 8), work('b', 4, true), work('c', 0)]);
  expect(seen).toEqual(['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]));
  expect(results.map((each) => (each.status === 'fulfilled' ? each.value : each.reason))).toEqual([
    'a',
    new Error('b'),
    'c',
  ]);
});

it('whoever asks for shared work while it runs waits for one more run, with all others', async () => {
  let runs = 0;
  const shared = createShared(async () => {
    const mine = ++runs;
    await pause(5);
    if (mine === 1) throw new Error('first');
    return mine;
  });
  const asked = [shared(), shared(), shared()];
  const results = await Promise.allSettled(asked);
  expect(results.map((each) => (each.status === 'fulfilled' ? each.value : 'failed'))).toEqual([
    'failed',
    2,
    2,
  ]);
  expect(await shared()).toBe(3);
});
