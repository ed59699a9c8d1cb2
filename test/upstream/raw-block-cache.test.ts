import { expect, it } from 'vitest';
import { parseBlock } from '../../src/stardust/block.ts';
import { createRawBlockCache } from '../../src/upstream/raw-block-cache.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

const network = new SyntheticNetwork({ seed: 'raw' });

function nextBlock() {
  const result = parseBlock(
    network.blocks.get(network.note(undefined, new Uint8Array(500)))!.bytes,
  );
  if (!result.ok) throw new Error(result.reason);
  return result.parsed;
}

it('gives blocks back as they were, and drops those that came first when there are too many', () => {
  const blocks = Array.from({ length: 30 }, nextBlock);
  const cache = createRawBlockCache(10 * (400 + blocks[0]!.bytes.length + 64));
  for (const [i, block] of blocks.entries()) cache.set(String(i), block);
  expect(cache.size).toBe(10);
  expect(cache.get('19')).toBeUndefined();
  expect(cache.get('20')).toEqual(blocks[20]);
  // what was put once more is the newest, and counts once
  cache.set('20', blocks[20]!);
  cache.set('30', nextBlock());
  expect([cache.size, cache.get('20') !== undefined, cache.get('21')]).toEqual([
    10,
    true,
    undefined,
  ]);
  cache.delete('20');
  cache.delete('20');
  expect([cache.size, cache.get('20')]).toEqual([9, undefined]);
  cache.clear();
  expect([cache.size, cache.get('29')]).toEqual([0, undefined]);
});
