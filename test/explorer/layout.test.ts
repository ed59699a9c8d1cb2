/** The layout of a cone, which a stranger's blocks must not make endless. */
import { expect, it } from 'vitest';
import { layOut } from '../../explorer/cone/layout.ts';

/** A chain, each block of which stands on the one before and on the oldest ones too. */
const chain = (length: number, parents: number) =>
  Array.from({ length }, (_, i) => ({
    blockId: `b${i}`,
    parents: [...new Set([i - 1, ...Array(parents - 1).keys()])]
      .filter((at) => at >= 0 && at < i)
      .map((at) => `b${at}`),
  }));

it('places each block right of its parents', () => {
  const blocks = chain(12, 2);
  const { places } = layOut(blocks.toReversed());
  for (const { blockId, parents } of blocks)
    for (const id of parents) expect(places[blockId]![0]).toBeGreaterThan(places[id]![0]);
});

it('lays out a long chain of a network as it is', () => {
  expect(Object.keys(layOut(chain(150, 1)).places)).toHaveLength(150);
});

it.each([
  [150, 3],
  [80, 8],
  [150, 8],
])('of %s blocks with %s parents, most of them the oldest, there is none', (length, parents) => {
  expect(() => layOut(chain(length, parents))).toThrow('too many layers');
});
