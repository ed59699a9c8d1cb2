/** What requests remember of the blocks that they fetched (src/upstream/open-block-cache.ts): of one ledger only, and not too much. */
import { expect, it } from 'vitest';
import { type ParsedBlock, parseBlock } from '../../src/stardust/block.ts';
import { createBlockMemory } from '../../src/upstream/open-block-cache.ts';
import { blockAround, taggedDataPayload } from '../support/network/blocks.ts';
import { ZERO_ID } from '../support/network/network-model.ts';

function blockOf(length: number): ParsedBlock {
  const result = parseBlock(
    blockAround([ZERO_ID], taggedDataPayload(Uint8Array.of(1), new Uint8Array(length))),
  );
  if (!result.ok) throw new Error(result.reason);
  return result.parsed;
}

const block = blockOf(1);

it('remembers', () => {
  const memory = createBlockMemory(4_000_000);
  memory('one', 7).set('a', block);
  expect(memory('one', 7).get('a')).toBe(block);
  expect(memory('one', 7).get('b')).toBeUndefined();
});

it('forgets with the ledger, and takes nothing from requests about a former one', () => {
  const memory = createBlockMemory(4_000_000);
  const former = memory('one', 7);
  former.set('a', block);
  const now = memory('two', 7);
  expect(now.get('a')).toBeUndefined();
  // it was open there, and may be referenced by a milestone before the import here
  former.set('b', block);
  now.set('c', block);
  expect([now.get('b'), former.get('b'), former.get('c'), now.get('c')]).toEqual([
    undefined,
    undefined,
    undefined,
    block,
  ]);
});

it('forgets what is so old that the ledger may have forgotten that it knew it', () => {
  const memory = createBlockMemory(4_000_000);
  memory('one', 7).set('a', block);
  expect(memory('one', 42).get('a')).toBe(block);
  expect(memory('one', 43).get('a')).toBeUndefined();
});

it('does not grow without end', () => {
  const memory = createBlockMemory(4_000_000)('one', 7);
  const large = blockOf(8000);
  const count = 1000;
  for (let i = 0; i < count; i++) memory.set(String(i), large);
  const kept = Array.from({ length: count }, (_, i) => memory.get(String(i))).filter(
    (each) => each !== undefined,
  );
  expect(kept.length * large.bytes.length).toBeLessThan(4_000_001);
  expect(kept.length).toBeGreaterThan(10);
  expect(memory.get(String(count - 1))).toBe(large);
});
