/**
 * What is remembered of blocks (src/upstream/block-cache.ts): their heap is counted and limited, and
 * what is remembered of a ledger index is of that one only.
 */
import { describe, expect, it } from 'vitest';
import { type ParsedBlock, parseBlock } from '../../src/stardust/wire/block.ts';
import {
  createBlockCache,
  createBlockIds,
  heapOf,
  ofLedgerIndex,
} from '../../src/upstream/block-cache.ts';
import { blockAround, taggedDataPayload } from '../support/network/blocks.ts';
import { ZERO_ID } from '../support/network/network-model.ts';
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

const HOUR_MS = 3_600_000;

describe('fetched blocks', () => {
  it('are counted with about as much heap as they take', () => {
    const network = new SyntheticNetwork({ seed: 'heap' });
    const [coin] = network.genesisCoins;
    const transaction = network.transfer(coin!, 1);
    const [data, paying] = [network.note(), network.attachTransaction(transaction)].map((id) =>
      parse(network.blocks.get(id)!.bytes),
    );
    const parentsOf = (parsed: ParsedBlock) => parsed.block.parents.length;
    expect(heapOf(data!)).toBe(1000 + 330 * parentsOf(data!) + data!.bytes.length);
    expect(heapOf(paying!)).toBe(1000 + 330 * parentsOf(paying!) + 10 * paying!.bytes.length);
  });

  it('are kept, the newest, and take the room of their own only once', () => {
    const blocks = createBlockCache(6 * heapOf(block));
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const kept = () => names.filter((name) => blocks.get(name) === block).join('');
    for (const name of names) blocks.set(name, block);
    expect(kept()).toBe('bcdefg');
    blocks.set('g', block);
    blocks.delete('e');
    blocks.delete('e');
    expect(kept()).toBe('bcdfg');
    blocks.set('a', block);
    expect(kept()).toBe('abcdfg');
    // 'b' came first, although it was looked at since
    blocks.set('e', block);
    expect(kept()).toBe('acdefg');
    blocks.clear();
    expect(kept()).toBe('');
    for (const name of names) blocks.set(name, block);
    expect(kept()).toBe('bcdefg');
  });

  it('do not grow without end', () => {
    const blocks = createBlockCache(4_000_000);
    const large = blockOf(8000);
    const count = 1000;
    for (let i = 0; i < count; i++) blocks.set(String(i), large);
    const kept = Array.from({ length: count }, (_, i) => blocks.get(String(i))).filter(
      (each) => each !== undefined,
    );
    expect(kept.length * large.bytes.length).toBeLessThan(4_000_001);
    expect(kept.length).toBeGreaterThan(10);
    expect(blocks.get(String(count - 1))).toBe(large);
  });
});

describe('IDs of blocks', () => {
  it('are remembered for three seconds, whatever the clock does', () => {
    let now = 1_000_000_000;
    const ids = createBlockIds(() => now, 10_000, 3000);
    for (const step of [3000, HOUR_MS, -HOUR_MS]) {
      ids.add('a');
      now += Math.sign(step) * 2999;
      expect(ids.has('a')).toBe(true);
      now += step;
      expect(ids.has('a')).toBe(false);
    }
    expect(ids.has('b')).toBe(false);
  });

  it('are as many as they may, the newest', () => {
    const ids = createBlockIds(() => 0, 10_000);
    for (let i = 0; i < 10_001; i++) ids.add(`${i}`);
    expect([ids.has('0'), ids.has('1'), ids.has('10000')]).toEqual([false, true, true]);
  });
});

it('what is remembered of one ledger index is not seen at another one, nor by another ledger', () => {
  const remembered = ofLedgerIndex(() => createBlockIds(Date.now, 10));
  const former = remembered('one', 7);
  former.add('a');
  expect(remembered('one', 7).has('a')).toBe(true);
  for (const next of [remembered('one', 8), remembered('two', 8), remembered('one', 7)]) {
    expect(next.has('a')).toBe(false);
    // by a request that began before
    former.add('b');
    expect(next.has('b')).toBe(false);
  }
});
