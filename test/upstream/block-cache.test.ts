/**
 * Blocks in memory (src/upstream/block-cache.ts): their heap is counted and limited, and what is
 * remembered of a ledger is of that one only.
 */
import { describe, expect, it } from 'vitest';
import { type ParsedBlock, parseBlock } from '../../src/stardust/wire/block.ts';
import {
  createFetchedCache,
  createRecentBlockCache,
  createUnreferencedIdCache,
  heapOf,
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

describe('fetched blocks', () => {
  it('are counted with about as much heap as they take', () => {
    const network = new SyntheticNetwork({ seed: 'heap' });
    const [coin] = network.genesisCoins;
    const transaction = network.transfer(coin!, 1);
    const [data, paying] = [network.note(), network.attachTransaction(transaction)].map((id) =>
      parse(network.blocks.get(id)!.bytes),
    );
    expect(heapOf(data!)).toBe(1000 + data!.bytes.length);
    expect(heapOf(paying!)).toBe(1000 + 10 * paying!.bytes.length);
  });

  /** Room for three blocks as they are parsed, and for six as bytes. */
  const limits = { parsed: 3 * heapOf(block), raw: 6 * (400 + block.bytes.length) };

  it('are kept: parsed those that came last, as bytes those before them', () => {
    const blocks = createFetchedCache(limits);
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    for (const name of names) blocks.set(name, block);
    expect(names.map((name) => blocks.get(name))).toEqual([
      undefined,
      ...Array.from({ length: 6 }, () => block),
    ]);
    // parsed again, so another object
    expect(names.map((name) => blocks.get(name) === block)).toEqual([
      ...Array.from({ length: 4 }, () => false),
      true,
      true,
      true,
    ]);
  });

  it('take the room of their own only once, and leave it', () => {
    const blocks = createFetchedCache(limits);
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) blocks.set(name, block);
    blocks.set('f', block);
    blocks.delete('e');
    blocks.delete('e');
    blocks.set('g', block);
    const left = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => blocks.get(name) !== undefined);
    expect(left).toEqual([true, true, true, true, false, true, true]);
    blocks.set('h', block);
    expect(blocks.get('a')).toBeUndefined();
    blocks.clear();
    expect(['b', 'f', 'h'].map((name) => blocks.get(name))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('blocks of one ledger', () => {
  it('are remembered', () => {
    const recent = createRecentBlockCache(4_000_000);
    recent('one', 7).set('a', block);
    expect(recent('one', 7).get('a')).toBe(block);
    expect(recent('one', 7).get('b')).toBeUndefined();
    recent('one', 8).delete('a');
    expect(recent('one', 7).get('a')).toBeUndefined();
  });

  it('are forgotten with the ledger, and not taken from requests about a former one', () => {
    const recent = createRecentBlockCache(4_000_000);
    const former = recent('one', 7);
    former.set('a', block);
    const now = recent('two', 7);
    expect(now.get('a')).toBeUndefined();
    // it was unreferenced there, and may be referenced by a milestone before the import here
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
    const recent = createRecentBlockCache(4_000_000);
    recent('one', 7).set('a', block);
    expect(recent('one', 42).get('a')).toBe(block);
    expect(recent('one', 43).get('a')).toBeUndefined();
  });

  it('do not grow without end', () => {
    const recent = createRecentBlockCache(4_000_000)('one', 7);
    const large = blockOf(8000);
    const count = 1000;
    for (let i = 0; i < count; i++) recent.set(String(i), large);
    const kept = Array.from({ length: count }, (_, i) => recent.get(String(i))).filter(
      (each) => each !== undefined,
    );
    expect(kept.length * large.bytes.length).toBeLessThan(4_000_001);
    expect(kept.length).toBeGreaterThan(10);
    expect(recent.get(String(count - 1))).toBe(large);
  });
});

describe('IDs of unreferenced blocks', () => {
  it('are forgotten with the ledger, after 35 milestones, and when there are too many', () => {
    const unreferencedIds = createUnreferencedIdCache(16_000);
    unreferencedIds('one', 7).add('a');
    expect([7, 42, 43].map((ledger) => unreferencedIds('one', ledger).has('a'))).toEqual([
      true,
      true,
      false,
    ]);
    unreferencedIds('one', 7).add('b');
    expect(unreferencedIds('two', 7).has('b')).toBe(false);
    for (let i = 0; i < 101; i++) unreferencedIds('two', 7).add(String(i));
    expect([unreferencedIds('two', 7).has('0'), unreferencedIds('two', 7).has('100')]).toEqual([
      false,
      true,
    ]);
  });
});
