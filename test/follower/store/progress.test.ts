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
  // a rival milestone has work of its own, and so has the word of another upstream
  expect(left('b', 'store', 500)).toBe(true);
  expect(left('a', 'store', 199)).toBe(false);
  expect(left('a', 'verdicts', 900)).toBe(true);
  expect(left('a', 'store', 1)).toBe(false);
  expect(left('a', 'verdicts', 900)).toBe(false);
  // the signed root has shown that there is less of it
  expect(isProgress(progress.beginAnew)).toBe(true);
  expect(left('a', 'walk', -1)).toBe(true);
  expect(isProgress(progress.beginAnew)).toBe(true);
  expect(left('b', 'store', 500)).toBe(true);
});
