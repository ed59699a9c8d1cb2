/**
 * What packs are made of (src/ledger/packs.ts): parts below D1's limit, and codecs that give back
 * what they were given.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readStates, splitIntoParts, writeStates } from '../../src/ledger/packs.ts';

const uint32 = fc.integer({ min: 0, max: 0xffff_ffff });

describe('parts', () => {
  it('have all items in their order, and none is larger than it may be', () => {
    const items = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 200 });
    const limits = { most: 7, length: 100 };
    fc.assert(
      fc.property(items, (lengths) => {
        const parts = splitIntoParts(lengths, (length) => length, limits);
        expect(parts.flat()).toEqual(lengths);
        for (const [i, part] of parts.entries()) {
          const length = part.reduce((sum, own) => sum + own, 0);
          expect(part.length).toBeGreaterThan(0);
          expect(part.length).toBeLessThanOrEqual(limits.most);
          expect(length).toBeLessThanOrEqual(limits.length);
          // and no part ends before it is full
          const next = parts[i + 1]?.[0];
          if (next !== undefined && part.length < limits.most)
            expect(length + next).toBeGreaterThan(limits.length);
        }
      }),
    );
  });

  it('take an item that is too large by itself alone', () => {
    const parts = splitIntoParts([10, 500, 10], (length) => length, { most: 9, length: 100 });
    expect(parts).toEqual([[10], [500], [10]]);
  });
});

describe('codecs', () => {
  it('of states', () => {
    const state = fc.record({ created: uint32, spent: uint32 });
    fc.assert(
      fc.property(fc.array(fc.tuple(uint32, state)), (entries) => {
        const states = new Map(entries);
        const read = new Map<number, unknown>();
        readStates(writeStates(states), (number, created, spent) => {
          read.set(number, { created, spent });
        });
        expect(read).toEqual(states);
      }),
    );
  });
});
