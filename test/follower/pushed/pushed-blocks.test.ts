/**
 * Blocks that were pushed: in whatever order they come, they are handed on behind their parents,
 * and never too many are held.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createPushedBlocks,
  type PushedBlocks,
} from '../../../src/follower/pushed/pushed-blocks.ts';
import { toHexDigits } from '../../../src/stardust/encoding/bytes.ts';
import type { ParsedBlock } from '../../../src/stardust/wire/block.ts';
import { blockAround, taggedDataPayload } from '../../support/network/blocks.ts';
import { ZERO_ID } from '../../support/network/network-model.ts';
import { Random } from '../../support/network/random.ts';
import { randomNetwork } from '../../support/network/random-network.ts';

const network = randomNetwork({ seed: 'pushed', milestones: 8, events: 30 });
const all = [...network.blocks.values()];
const digits = (id: string) => id.slice(2);
const idOf = (block: ParsedBlock) => toHexDigits(block.id);
const AMPLE = 1e9;

function open(maxHeapBytes = AMPLE): PushedBlocks {
  return createPushedBlocks({ maxHeapBytes, fault: () => undefined });
}

/** What whoever stores blocks does in one go; the database is a set of IDs. */
function storeOnce(blocks: PushedBlocks, database: Set<string>, most: number, now: number) {
  const next = blocks.next(most, now);
  blocks.looked(next.parents, (id) => database.has(id), now);
  const stored: string[] = [];
  for (const block of next.blocks) {
    const parents = block.block.parents.map(toHexDigits);
    if (!parents.every((parent) => database.has(parent))) continue;
    database.add(idOf(block));
    stored.push(idOf(block));
  }
  blocks.remove(stored);
  return { next, stored };
}

describe('a network', () => {
  it('is stored whole, parents first, in whatever order its blocks come', () => {
    const order = fc.record({
      seed: fc.string(),
      shift: fc.nat(60),
      most: fc.integer({ min: 5, max: 100 }),
    });
    fc.assert(
      fc.property(order, ({ seed, shift, most }) => {
        const random = new Random(seed);
        const places = all.map((block, i) => ({ block, place: i + random.below(shift + 1) }));
        const shuffled = places.sort((a, b) => a.place - b.place).map(({ block }) => block);
        const blocks = open();
        const database = new Set([digits(ZERO_ID)]);
        let now = 0;
        for (const [i, { bytes }] of shuffled.entries()) {
          blocks.push(bytes, now);
          now += 10;
          if (i % 16 === 0) storeOnce(blocks, database, most, now);
        }
        for (let i = 0; i < 100 && blocks.size > 0; i++) {
          now += 100;
          storeOnce(blocks, database, most, now);
        }
        expect(database.size).toBe(all.length + 1);
        expect(blocks).toMatchObject({ size: 0, heapBytes: 0 });
      }),
      { numRuns: 60 },
    );
  });

  it('is stored but for what is upon a lost block, and that as soon as the block is there', () => {
    const lost = all[40]!;
    const upon = new Set([lost.id]);
    for (const { id, parents } of all) if (parents.some((each) => upon.has(each))) upon.add(id);
    const blocks = open();
    const database = new Set([digits(ZERO_ID)]);
    for (const block of all) if (block !== lost) blocks.push(block.bytes, 0);
    for (let now = 0; now < 1000; now += 100) storeOnce(blocks, database, 1000, now);
    expect(blocks.size).toBe(upon.size - 1);
    expect(database.size).toBe(all.length + 1 - upon.size);
    // it is named, so that it is fetched, and nothing else is
    expect(blocks.missing(0)).toEqual([digits(lost.id)]);
    expect(blocks.missing(-1)).toEqual([]);
    blocks.push(lost.bytes, 1000);
    expect(blocks.missing(1000)).toEqual([]);
    storeOnce(blocks, database, 1000, 1000);
    expect(blocks.size).toBe(0);
    expect(database.size).toBe(all.length + 1);
  });
});

describe('next', () => {
  it('gives each parent once: before its child, or as an ID to look up', () => {
    const blocks = open();
    const some = all.filter((_, i) => i % 5 !== 0);
    for (const { bytes } of some.toReversed()) blocks.push(bytes, 0);
    const { blocks: given, parents } = blocks.next(1000, 0);
    expect(given).toHaveLength(some.length);
    const before = new Set<string>();
    for (const block of given) {
      for (const parent of block.block.parents.map(toHexDigits))
        expect(before.has(parent) !== parents.has(parent), parent).toBe(true);
      before.add(idOf(block));
    }
  });

  it('gives no block upon a parent that is nowhere, which is looked for again', () => {
    const { blocks, parent, child, grandchild } = chain();
    const other = note([ZERO_ID], 9);
    blocks.push(child.bytes, 0);
    blocks.push(grandchild.bytes, 0);
    blocks.push(other, 0);
    const first = blocks.next(10, 0);
    expect(first.blocks).toHaveLength(3);
    expect(first.parents).toEqual(new Set([parent.id, digits(ZERO_ID)]));
    blocks.looked(first.parents, (id) => id !== parent.id, 0);
    for (const now of [0, 4999]) {
      const { blocks: given, parents } = blocks.next(10, now);
      expect(given.map(({ bytes }) => bytes)).toEqual([other]);
      expect(parents).toEqual(new Set([digits(ZERO_ID)]));
    }
    expect(blocks.next(10, 5000).parents).toContain(parent.id);
    blocks.looked([parent.id], () => true, 5000);
    expect(blocks.next(10, 5000).blocks).toHaveLength(3);
  });

  it('looks for the rest where a flood waits for parents that are nowhere', () => {
    const blocks = open();
    const random = new Random('nowhere');
    for (let i = 0; i < 700; i++) blocks.push(note([`0x${random.bytes(32).toHex()}`], i), 0);
    const { parents } = blocks.next(1000, 0);
    expect(parents.size).toBe(700);
    blocks.looked(parents, () => false, 0);
    const again = blocks.next(1000, 5000);
    expect([again.blocks.length, again.parents.size]).toEqual([0, 500]);
    blocks.looked(again.parents, () => false, 5000);
    expect(blocks.next(1000, 5001).parents.size).toBe(200);
  });

  it('leaves out what came half a minute ago', () => {
    const { blocks, parent, child } = chain();
    blocks.push(child.bytes, 0);
    blocks.looked([parent.id], () => false, 0);
    blocks.push(note([ZERO_ID], 1), 10_000);
    blocks.next(10, 29_999);
    expect(blocks.size).toBe(2);
    expect(blocks.next(10, 30_000).blocks).toHaveLength(1);
    expect(blocks).toMatchObject({ size: 1 });
    expect(blocks.missing(30_000)).toEqual([]);
  });
});

describe('what is held', () => {
  it('is bounded, whatever comes', () => {
    const event = fc.record({
      what: fc.constantFrom('fresh', 'orphan', 'double', 'network'),
      size: fc.nat(3000),
      store: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(event, { minLength: 50, maxLength: 200 }),
        fc.string(),
        (events, seed) => {
          const random = new Random(seed);
          const limit = 40_000;
          const blocks = open(limit);
          const database = new Set([digits(ZERO_ID)]);
          let now = 0;
          for (const { what, size, store } of events) {
            const data = random.bytes(size);
            const bytes = {
              fresh: () => blockAround([ZERO_ID], taggedDataPayload(Uint8Array.of(1), data)),
              orphan: () =>
                blockAround(
                  [`0x${random.bytes(32).toHex()}`],
                  taggedDataPayload(Uint8Array.of(1), data),
                ),
              double: () => all[0]!.bytes,
              network: () => random.pick(all).bytes,
            }[what]();
            now += 50;
            blocks.push(bytes, now);
            expect(blocks.heapBytes).toBeLessThanOrEqual(limit);
            if (store) storeOnce(blocks, database, 20, now);
          }
          blocks.clear();
          expect(blocks).toMatchObject({ size: 0, heapBytes: 0 });
        },
      ),
      { numRuns: 100 },
    );
  });

  it('makes room for what waits for nothing: a flood of orphans is in nobody’s way', () => {
    const blocks = open(300_000);
    const database = new Set([digits(ZERO_ID)]);
    const random = new Random('flood');
    let now = 0;
    let stored = 0;
    for (let i = 0; i < 400; i++) {
      for (let k = 0; k < 20; k++) blocks.push(note([`0x${random.bytes(32).toHex()}`], k), now);
      now += 100;
      storeOnce(blocks, database, 1000, now);
      blocks.push(note([ZERO_ID], 1000 + i), now);
      now += 100;
      stored += storeOnce(blocks, database, 1000, now).stored.length;
    }
    expect(stored).toBe(400);
    // of 8,000 orphans
    expect(blocks.size).toBeLessThan(1000);
  });

  it('takes nothing that does not parse or has a fault, and a block only once', () => {
    const blocks = createPushedBlocks({
      maxHeapBytes: AMPLE,
      fault: ({ bytes }) => (bytes.length > 100 ? 'C-1: too long' : undefined),
    });
    const short = note([ZERO_ID], 1);
    for (const bytes of [short, short, new Uint8Array(30), new Uint8Array(40_000)])
      blocks.push(bytes, 0);
    blocks.push(blockAround([ZERO_ID], taggedDataPayload(Uint8Array.of(1), new Uint8Array(80))), 0);
    expect(blocks.size).toBe(1);
    expect(blocks.get(idOf(blocks.next(1, 0).blocks[0]!))?.bytes).toEqual(short);
  });
});

function note(parents: readonly string[], number: number): Uint8Array {
  return blockAround(
    parents,
    taggedDataPayload(Uint8Array.of(1), Uint8Array.of(number >> 8, number)),
  );
}

/** Three blocks, each upon the one before; IDs without 0x. */
function chain() {
  const blocks = open();
  const make = (parents: string[], number: number) => {
    const bytes = note(parents, number);
    const one = open();
    one.push(bytes, 0);
    return { bytes, id: idOf(one.next(1, 0).blocks[0]!) };
  };
  const parent = make([ZERO_ID], 1);
  const child = make([`0x${parent.id}`], 2);
  const grandchild = make([`0x${child.id}`, ZERO_ID], 3);
  return { blocks, parent, child, grandchild };
}
