/**
 * Blocks in memory (src/upstream/block-cache.ts): their heap is counted, open blocks are of one
 * ledger only, and there are not too many of them.
 */
import { describe, expect, it } from 'vitest';
import { type ParsedBlock, parseBlock } from '../../src/stardust/block.ts';
import {
  createBlockCache,
  createOpenBlockCache,
  createOpenIdCache,
  createRecentBlockCache,
} from '../../src/upstream/block-cache.ts';
import { blockAround, taggedDataPayload } from '../support/network/blocks.ts';
import { ZERO_ID } from '../support/network/network-model.ts';
import { basic } from '../support/network/outputs.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

function parse(bytes: Uint8Array): ParsedBlock {
  const result = parseBlock(bytes);
  if (!result.ok) throw new Error(result.reason);
  return result.parsed;
}

function blockOf(length: number): ParsedBlock {
  const data = taggedDataPayload(Uint8Array.of(1), new Uint8Array(length));
  return parse(blockAround([ZERO_ID], data));
}

const block = blockOf(1);

describe('fetched blocks', () => {
  it('are counted with about as much heap as they take', () => {
    const network = new SyntheticNetwork({ seed: 'heap' });
    const [coin] = network.genesisCoins;
    const transaction = network.transaction(
      [{ coin: coin!, by: network.account(0) }],
      [basic(network.account(1), coin!.output.amount)],
    );
    const [data, paying] = [network.note(), network.attachTransaction(transaction)].map((id) =>
      parse(network.blocks.get(id)!.bytes),
    );
    const blocks = createBlockCache();
    blocks.set('a', data!);
    blocks.set('b', paying!);
    blocks.set('b', paying!);
    const [ofData, ofPaying] = [1000 + data!.bytes.length, 1000 + 10 * paying!.bytes.length];
    expect(blocks).toMatchObject({ size: 2, heapBytes: ofData + ofPaying });
    blocks.delete('a');
    blocks.delete('a');
    expect(blocks).toMatchObject({ size: 1, heapBytes: ofPaying });
    blocks.set('b', data!);
    expect(blocks).toMatchObject({ size: 1, heapBytes: ofData });
    blocks.clear();
    expect(blocks).toMatchObject({ size: 0, heapBytes: 0 });
    expect(blocks.get('b')).toBeUndefined();
  });
});

describe('open blocks', () => {
  it('are remembered', () => {
    const openBlocks = createOpenBlockCache(4_000_000);
    openBlocks('one', 7).set('a', block);
    expect(openBlocks('one', 7).get('a')).toBe(block);
    expect(openBlocks('one', 7).get('b')).toBeUndefined();
    openBlocks('one', 8).delete('a');
    expect(openBlocks('one', 7).get('a')).toBeUndefined();
  });

  it('are forgotten with the ledger, and not taken from requests about a former one', () => {
    const openBlocks = createOpenBlockCache(4_000_000);
    const former = openBlocks('one', 7);
    former.set('a', block);
    const now = openBlocks('two', 7);
    expect(now.get('a')).toBeUndefined();
    // it was open there, and may be referenced by a milestone before the import here
    former.set('b', block);
    now.set('c', block);
    former.delete('c');
    expect([now.get('b'), former.get('b'), former.get('c'), now.get('c')]).toEqual([
      undefined,
      undefined,
      undefined,
      block,
    ]);
  });

  it('are forgotten when the ledger may have forgotten that it knew them', () => {
    const openBlocks = createOpenBlockCache(4_000_000);
    openBlocks('one', 7).set('a', block);
    expect(openBlocks('one', 42).get('a')).toBe(block);
    expect(openBlocks('one', 43).get('a')).toBeUndefined();
  });

  it('do not grow without end', () => {
    const openBlocks = createOpenBlockCache(4_000_000)('one', 7);
    const large = blockOf(8000);
    const count = 1000;
    for (let i = 0; i < count; i++) openBlocks.set(String(i), large);
    const kept = Array.from({ length: count }, (_, i) => openBlocks.get(String(i))).filter(
      (each) => each !== undefined,
    );
    expect(kept.length * large.bytes.length).toBeLessThan(4_000_001);
    expect(kept.length).toBeGreaterThan(10);
    expect(openBlocks.get(String(count - 1))).toBe(large);
  });
});

describe('IDs of open blocks, and blocks of which nothing is known', () => {
  it('are forgotten with the ledger, after 35 milestones, and when there are too many', () => {
    const openIds = createOpenIdCache(16_000);
    openIds('one', 7).add('a');
    expect([7, 42, 43].map((ledger) => openIds('one', ledger).has('a'))).toEqual([
      true,
      true,
      false,
    ]);
    openIds('one', 7).add('b');
    expect(openIds('two', 7).has('b')).toBe(false);
    for (let i = 0; i < 101; i++) openIds('two', 7).add(String(i));
    expect([openIds('two', 7).has('0'), openIds('two', 7).has('100')]).toEqual([false, true]);

    const recent = createRecentBlockCache(4_000_000);
    recent('one', 7).set('a', block);
    expect([recent('one', 42).get('a'), recent('one', 43).get('a')]).toEqual([block, undefined]);
  });
});
