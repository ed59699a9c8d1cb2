import { expect, it } from 'vitest';
import { isBelowMaxDepth } from '../../../src/follower/pushed/store-pushed.ts';

it('tells a block upon one that was referenced long ago from a fresh one', () => {
  const upon = (...milestones: (number | null)[]) =>
    isBelowMaxDepth(
      milestones.map((milestone) => ({ milestone })),
      100,
      15,
    );
  expect(upon(null, null)).toBe(false);
  expect(upon(85, 100)).toBe(false);
  expect(upon(100, 84)).toBe(true);
  expect(upon(null, 84)).toBe(true);
});
