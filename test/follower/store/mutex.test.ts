import { expect, it } from 'vitest';
import { createMutex, singleFlight } from '../../../src/follower/store/mutex.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it('works wait for those before them, also for one that fails', async () => {
  const mutex = createMutex();
  const seen: string[] = [];
  const work = (name: string, ms: number, fails = false) =>
    mutex(async () => {
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

it('whoever asks for single work while it runs waits for one more run, with all others', async () => {
  let runs = 0;
  const single = singleFlight(async () => {
    const mine = ++runs;
    await pause(5);
    if (mine === 1) throw new Error('first');
    return mine;
  });
  const asked = [single(), single(), single()];
  const results = await Promise.allSettled(asked);
  expect(results.map((each) => (each.status === 'fulfilled' ? each.value : 'failed'))).toEqual([
    'failed',
    2,
    2,
  ]);
  expect(await single()).toBe(3);
});
