/** Blocks that an upstream gives: none is taken that is another one, or none at all. */
import { expect, it } from 'vitest';
import { toHexDigits } from '../../src/stardust/encoding/bytes.ts';
import { blockId } from '../../src/stardust/wire/ids.ts';
import { fetchBlock } from '../../src/upstream/fetch-blocks.ts';
import { type Upstream, UpstreamFailure } from '../../src/upstream/upstream.ts';
import { blockBytes, milestoneOf } from '../support/payloads/blocks.ts';

const giving = (bytes: Uint8Array | undefined) =>
  ({ name: 'a.example', readBlock: async () => bytes }) as Partial<Upstream> as Upstream;
const idOf = (bytes: Uint8Array) => toHexDigits(blockId(bytes));

const right = blockBytes({});
const withNonce = blockBytes({ payload: milestoneOf({}), nonce: 1n });

it.each([
  ['other bytes', idOf(right), blockBytes({ nonce: 1n }), 'other bytes for block'],
  ['what does not parse', idOf(right.subarray(1)), right.subarray(1), 'breaks'],
  ['a milestone block with a nonce', idOf(withNonce), withNonce, 'breaks C-5'],
])('%s are a failure of the upstream, and another one is asked', async (_, id, bytes, reason) => {
  const asking = fetchBlock([giving(bytes)], id);
  await expect(asking).rejects.toThrow(UpstreamFailure);
  await expect(asking).rejects.toThrow(reason);
  const { bytes: found } = await fetchBlock([giving(bytes), giving(right)], idOf(right));
  expect(found).toEqual(right);
});

it('a block that no upstream has is unknown', async () => {
  await expect(fetchBlock([giving(undefined)], idOf(right))).rejects.toThrow('not known upstream');
});
