/** Roots in steps (src/node/compute-white-flag.ts): the same roots, and turns between the steps. */
import { expect, it } from 'vitest';
import { computeRoots } from '../../src/node/compute-white-flag.ts';
import { ConflictReason } from '../../src/stardust/semantics/verdict.ts';
import type { Cone } from '../../src/stardust/white-flag/cone.ts';
import { computeRoots as computeAtOnce } from '../../src/stardust/white-flag/walk.ts';

/** Each leaf is its position. */
const cone = {
  copyLeaf: (position: number, to: Uint32Array, at: number) => to.fill(position, at, at + 8),
} as unknown as Cone;

it.each([0, 1, 2, 1023, 1024, 1025, 2048, 3000, 4097])(
  'the roots of %i blocks, 1,024 leaves in a step',
  async (count) => {
    const order = Uint32Array.from({ length: count }, (_, i) => i);
    const reasons = Array.from(order, (i) => (i % 3 === 0 ? 1 : ConflictReason.None));
    const whiteFlag = { order, reasons, undecided: [] } as unknown as Parameters<
      typeof computeAtOnce
    >[1];
    let turns = 0;
    const roots = await computeRoots(cone, whiteFlag, async () => void turns++);
    expect(roots).toEqual(computeAtOnce(cone, whiteFlag));
    expect(turns).toBeGreaterThanOrEqual(Math.ceil(count / 1024));
  },
);
