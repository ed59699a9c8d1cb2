/** What counts as progress (src/follower/store/progress.ts). */
import { expect, it } from 'vitest';
import { createProgress } from '../../../src/follower/store/progress.ts';

it('is less work than ever before for the milestone, and nothing else', () => {
  const progress = createProgress();
  const isProgress = (work: () => void) => {
    const { times } = progress;
    work();
    return progress.times > times;
  };
  const left = (...work: Parameters<typeof progress.workLeft>) =>
    isProgress(() => progress.workLeft(...work));
  expect(left('a', 'walk', -128)).toBe(true);
  expect(left('a', 'walk', -128)).toBe(false);
  expect(left('a', 'walk', -300)).toBe(true);
  expect(left('a', 'store', 300)).toBe(true);
  expect(left('a', 'store', 200)).toBe(true);
  // what was stored was dropped, and is walked to and stored again
  expect(left('a', 'walk', -1000)).toBe(false);
  expect(left('a', 'store', 250)).toBe(false);
  expect(left('a', 'store', 199)).toBe(true);
  // a rival milestone has work of its own
  expect(left('b', 'store', 500)).toBe(true);
  expect(left('a', 'store', 199)).toBe(false);
  expect(left('a', 'verdicts', 900)).toBe(true);
  expect(left('a', 'store', 1)).toBe(false);
  expect(left('a', 'verdicts', 900)).toBe(false);
  // the signed root has shown that there is less of it
  expect(isProgress(() => progress.coneShrank('a'))).toBe(true);
  expect(left('a', 'walk', -1)).toBe(true);
  // once for each upstream whose word is tried
  const startOver = (upstream: string) => isProgress(() => progress.startOver('a', upstream));
  expect(left('a', 'store', 7)).toBe(true);
  for (const upstream of ['one', 'other']) {
    expect(startOver(upstream)).toBe(false);
    expect(left('a', 'walk', -1)).toBe(true);
  }
  expect(startOver('one')).toBe(false);
  expect(left('a', 'walk', -1)).toBe(false);
  expect(isProgress(progress.ledgerMoved)).toBe(true);
  expect(left('b', 'store', 500)).toBe(true);
});
