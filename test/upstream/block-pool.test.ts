/**
 * The pool of blocks that are not stored (src/upstream/block-pool.ts): their heap is counted and
 * limited, and pushed blocks are fetched ones that are to be stored by themselves.
 */
import { describe, expect, it } from 'vitest';
import { toHexDigits } from '../../src/stardust/encoding/bytes.ts';
import { type ParsedBlock, parseBlock } from '../../src/stardust/wire/block.ts';
import { createBlockPool, heapOf } from '../../src/upstream/block-pool.ts';
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

const open = (maxHeapBytes: number) => createBlockPool(maxHeapBytes, () => true);

describe('blocks of the pool', () => {
  it('are counted with about as much heap as they take', () => {
    const network = new SyntheticNetwork({ seed: 'heap' });
    const [coin] = network.genesisCoins;
    const transaction = network.transfer(coin!, 1);
    const [data, paying] = [network.note(), network.attachTransaction(transaction)].map((id) =>
      parse(network.blocks.get(id)!.bytes),
    );
    const parentsOf = (parsed: ParsedBlock) => parsed.block.parents.length;
    network.milestone();
    const carrying = parse(network.blocks.get(network.milestoneBlock!)!.bytes);
    expect(heapOf(carrying)).toBe(1000 + 330 * parentsOf(carrying) + 6 * carrying.bytes.length);
    expect(heapOf(data!)).toBe(1000 + 330 * parentsOf(data!) + data!.bytes.length);
    expect(heapOf(paying!)).toBe(1000 + 330 * parentsOf(paying!) + 10 * paying!.bytes.length);
  });

  it('are kept, the newest, and take the room of their own only once', () => {
    const blocks = open(6 * heapOf(block));
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const kept = () => names.filter((name) => blocks.get(name) === block).join('');
    for (const name of names) blocks.set(name, block);
    expect(kept()).toBe('bcdefg');
    // one that is there already is as old as it was
    blocks.set('b', block);
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
    const blocks = open(4_000_000);
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

describe('pushed blocks', () => {
  const [one, two, three] = [blockOf(1), blockOf(2), blockOf(3)];
  const [first, second, third] = [one, two, three].map(({ id }) => toHexDigits(id));

  it('are to be stored in the order of their coming, until they are settled', () => {
    const blocks = open(1e6);
    blocks.push(two.bytes, 10);
    blocks.push(one.bytes, 20);
    blocks.push(two.bytes, 30);
    expect(blocks.pushed()).toEqual([
      [second, 10],
      [first, 20],
    ]);
    blocks.settle(second!);
    expect(blocks.pushed()).toEqual([[first, 20]]);
    expect(blocks.get(second!)).toEqual(two);
    // it is one that was there
    blocks.push(two.bytes, 40);
    blocks.delete(first!);
    expect(blocks.pushed()).toEqual([]);
  });

  it('share the room with those that were fetched, and the oldest go first', () => {
    const blocks = open(heapOf(two) + heapOf(three));
    blocks.push(one.bytes, 0);
    blocks.set(second!, two);
    blocks.push(three.bytes, 0);
    expect(blocks.pushed()).toEqual([[third, 0]]);
    blocks.push(one.bytes, 1);
    expect([first, second, third].map((id) => blocks.get(id!) !== undefined)).toEqual([
      true,
      false,
      true,
    ]);
  });

  it('are not kept if they do not parse or are not admitted; those that are fetched are', () => {
    const blocks = createBlockPool(1e6, ({ id }) => toHexDigits(id) !== first);
    blocks.push(one.bytes, 0);
    blocks.push(two.bytes.subarray(1), 0);
    expect(blocks.pushed()).toEqual([]);
    blocks.set(first!, one);
    expect(blocks.get(first!)).toBe(one);
  });
});
