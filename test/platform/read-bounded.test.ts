/** Bodies read up to a limit (src/platform/read-bounded.ts). */
import { expect, it } from 'vitest';
import { readBounded } from '../../src/platform/read-bounded.ts';

/**
 * A body in chunks of these lengths; says how many of them were asked for and whether it was
 * cancelled.
 */
function bodyOf(lengths: readonly number[]) {
  const seen = { pulled: 0, cancelled: false };
  const body = new ReadableStream(
    {
      type: 'bytes',
      pull(controller: ReadableByteStreamController) {
        const length = lengths[seen.pulled++];
        if (length !== undefined) {
          controller.enqueue(new Uint8Array(length).fill(seen.pulled));
          return;
        }
        controller.close();
        controller.byobRequest?.respond(0);
      },
      cancel() {
        seen.cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, seen };
}

it('reads all chunks, up to the limit and no further', async () => {
  expect(await readBounded(bodyOf([]).body, 0)).toEqual(new Uint8Array(0));
  for (const expected of [0, 1, 3, 4, 5, undefined])
    expect(await readBounded(bodyOf([1, 3]).body, 4, expected)).toEqual(Uint8Array.of(1, 2, 2, 2));
  const long = await readBounded(bodyOf([3000, 1]).body, 3001);
  expect([long?.length, long?.at(-1)]).toEqual([3001, 2]);
  const { body, seen } = bodyOf([2, 3, 1000, 1000]);
  expect(await readBounded(body, 4)).toBeUndefined();
  expect(seen).toEqual({ pulled: 2, cancelled: true });
});

it('reads one that is no stream of bytes likewise', async () => {
  const seen = { pulled: 0, cancelled: false };
  const bodyOfThree = () =>
    new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (seen.pulled++ % 4 === 3) controller.close();
          else controller.enqueue(Uint8Array.of(seen.pulled));
        },
        cancel() {
          seen.cancelled = true;
        },
      },
      { highWaterMark: 0 },
    );
  expect(await readBounded(bodyOfThree(), 3)).toEqual(Uint8Array.of(1, 2, 3));
  expect(seen).toEqual({ pulled: 4, cancelled: false });
  expect(await readBounded(bodyOfThree(), 1)).toBeUndefined();
  expect(seen).toEqual({ pulled: 6, cancelled: true });
  const broken = new ReadableStream<Uint8Array>({ pull: (to) => to.error(new Error('gone')) });
  await expect(readBounded(broken, 4)).rejects.toThrow('gone');
});

it('rejects as a body does that breaks off', async () => {
  const body = new ReadableStream({
    type: 'bytes',
    pull(controller) {
      controller.error(new Error('gone'));
    },
  });
  await expect(readBounded(body, 4)).rejects.toThrow('gone');
});
