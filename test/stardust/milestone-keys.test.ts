/** M-2 and M-3 called directly, as one who uses `src/stardust` may. */
import { expect, it } from 'vitest';
import { signatureFault } from '../../src/stardust/milestone-keys.ts';
import type { Milestone } from '../../src/stardust/wire/milestone.ts';

const ID = new Uint8Array(32).fill(7);
const [A, B] = [1, 2].map((fill) => new Uint8Array(32).fill(fill)) as [Uint8Array, Uint8Array];
const KEYS = [A, B].map((publicKey) => ({ publicKey, first: 0, last: 0 }));

const fault = (signers: Uint8Array[], threshold: number, keys = KEYS) => {
  const signatures = signers.map((publicKey) => ({
    type: 0 as const,
    publicKey,
    signature: new Uint8Array(64),
  }));
  const milestone = { index: 5, signatures } as Partial<Milestone> as Milestone;
  return signatureFault(milestone, ID, { keys, threshold }, async () => true);
};

it('enough keys signed', async () => expect(await fault([A, B], 2)).toBeUndefined());

it.each([0, -1, Number.NaN, 1.5, Number.POSITIVE_INFINITY])(
  'a threshold of %s is no threshold',
  async (threshold) => {
    await expect(fault([A, B], threshold)).rejects.toThrow(RangeError);
    await expect(fault([], threshold, [])).rejects.toThrow(RangeError);
  },
);

it('a key that signs twice counts once', async () => {
  expect(await fault([A, A], 2)).toBe('M-2: 1 keys signed, threshold 2');
  expect(await fault([A, A, B], 2)).toBeUndefined();
});

/** The milestone has index 5. */
it.each([
  [5, 5, true],
  [5, 0, true],
  [0, 5, true],
  [6, 0, false],
  [6, 9, false],
  [0, 4, false],
])('M-4: a key of milestones %i to %i may sign or not', async (first, last, maySign) => {
  const keys = [...KEYS, { publicKey: new Uint8Array(32).fill(3), first, last }];
  const why = await fault([A, new Uint8Array(32).fill(3)], 2, keys);
  expect(why === undefined).toBe(maySign);
});
