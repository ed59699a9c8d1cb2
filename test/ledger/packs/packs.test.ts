/**
 * What packs are made of (src/ledger/packs/pack-columns.ts): parts below D1's limit, codecs that give back
 * what they were given, and checksums that find what is not that.
 */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checksum, LedgerDamaged, requireChecksum } from '../../../src/ledger/core/checksum.ts';
import { Row } from '../../../src/ledger/core/read-batch.ts';
import { readNumbers, writeNumbers } from '../../../src/ledger/packs/milestone-part.ts';
import {
  readChecksums,
  readStates,
  STATUS_LENGTH,
  Statuses,
  splitIntoParts,
  walkedPackFromRow,
  writeChecksums,
  writeStates,
  writeStatuses,
} from '../../../src/ledger/packs/pack-columns.ts';
import { fromBase64, toBase64 } from '../../../src/stardust/encoding/base64.ts';
import { concatBytes } from '../../../src/stardust/encoding/bytes.ts';

const uint32 = fc.integer({ min: 0, max: 0xffff_ffff });

/** Seven bytes, of which only safe integers are written. */
const uint56 = fc.oneof(
  fc.maxSafeNat(),
  fc.constantFrom(0, 2 ** 32 - 1, 2 ** 32, 2 ** 48 - 1, 2 ** 48, Number.MAX_SAFE_INTEGER),
);

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
  it('of statuses', () => {
    const index = fc.integer({ min: 1, max: 0xffff_ffff });
    const reason = fc.nat(255);
    const status = fc.oneof(
      fc.record({ milestone: index, storedAt: fc.constant(0), reason }),
      fc.record({ milestone: fc.constant(0), storedAt: uint32, reason: fc.constant(0) }),
    );
    fc.assert(
      fc.property(fc.array(status), (all) => {
        const bytes = writeStatuses(all);
        const statuses = new Statuses(bytes);
        expect(statuses.size).toBe(all.length);
        expect(all.map((_, at) => statuses.at(at))).toEqual(all);
        expect(all.map((_, at) => statuses.milestoneAt(at))).toEqual(
          all.map(({ milestone }) => milestone),
        );
        // D1 appends statuses as base64, and counts them by its length
        expect(toBase64(bytes)).toHaveLength(STATUS_LENGTH * all.length);
        const halves = [all.slice(0, 3), all.slice(3)].map((half) => toBase64(writeStatuses(half)));
        expect(halves.join('')).toBe(toBase64(bytes));
      }),
    );
  });

  it('of statuses, of which none is cut', () => {
    const status = (milestone: number) => [{ milestone, storedAt: 0, reason: 0 }];
    expect(() => writeStatuses(status(2 ** 32))).toThrow(RangeError);
    expect(() => writeStatuses(status(-1))).toThrow(RangeError);
  });

  it('of states', () => {
    const state = fc.record({ created: uint32, spent: uint32 });
    fc.assert(
      fc.property(fc.array(fc.tuple(uint56, state)), (entries) => {
        const states = new Map(entries);
        const bytes = writeStates(states);
        const read = new Map<number, unknown>();
        const note = (number: number, created: number, spent: number) => {
          read.set(number, { created, spent });
        };
        readStates(bytes, note);
        expect(read).toEqual(states);
        // as base64 they can be appended
        const text = toBase64(writeStates(new Map(entries.slice(0, 1)))) + toBase64(bytes);
        readStates(fromBase64(text), note);
        expect(read).toEqual(states);
      }),
    );
  });

  it('of states, of which none is cut', () => {
    const of = (number: number, created: number, spent: number) =>
      writeStates(new Map([[number, { created, spent }]]));
    for (const wrong of [-1, 0.5, 2 ** 32]) {
      expect(() => of(1, wrong, 0)).toThrow(RangeError);
      expect(() => of(1, 1, wrong)).toThrow(RangeError);
    }
    for (const wrong of [-1, 0.5, 2 ** 53]) expect(() => of(wrong, 1, 0)).toThrow(RangeError);
  });

  it('of block numbers', () => {
    fc.assert(
      fc.property(fc.array(uint56), (numbers) => {
        expect(readNumbers(writeNumbers(numbers))).toEqual(numbers);
      }),
    );
    expect(() => writeNumbers([2 ** 53])).toThrow(RangeError);
  });

  it('of checksums', () => {
    const sums = { records: 1, statuses: 0xffff_ffff, states: 0, next: -7 };
    expect(readChecksums(writeChecksums(sums))).toEqual(sums);
    for (const damaged of ['[ 1,2,3,-14]', '[11,2,3,-1 ]', '[1e3,2,3,-14]'])
      expect(() => readChecksums(damaged)).toThrow(LedgerDamaged);
  });
});

describe('checksums', () => {
  const bytes = fc.uint8Array({ maxLength: 300 });

  it('find any flipped bit', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.nat(), (some, seed) => {
        const sum = checksum(some);
        requireChecksum(some, sum, 'records of pack 1');
        const bit = seed % (8 * some.length);
        const flipped = some.slice();
        flipped[bit >> 3]! ^= 1 << (bit & 7);
        expect(() => requireChecksum(flipped, sum, 'records of pack 7')).toThrow(LedgerDamaged);
        expect(() => requireChecksum(flipped, sum, 'records of pack 7')).toThrow(
          /^records of pack 7 are damaged/,
        );
      }),
      { numRuns: 500 },
    );
  });

  it('of a part, continued over the rest, are those of the whole', () => {
    fc.assert(
      fc.property(bytes, bytes, (first, second) => {
        const whole = checksum(concatBytes(first, second));
        expect(checksum(second, checksum(first))).toBe(whole);
        expect(Number.isInteger(whole) && whole >= 0 && whole < 2 ** 52).toBe(true);
      }),
    );
  });
});

describe('a pack', () => {
  const cell = (bytes: Uint8Array) => bytes.toBase64();
  const columns = {
    records: Uint8Array.of(1, 2, 3),
    statuses: writeStatuses([{ milestone: 7, storedAt: 0, reason: 3 }]),
    states: writeStates(new Map([[2 ** 40, { created: 1, spent: 2 }]])),
  };
  const row = {
    key: 2 ** 40,
    staged: null,
    records: cell(columns.records),
    statuses: cell(columns.statuses),
    states: cell(columns.states),
    sums: writeChecksums({
      records: checksum(columns.records),
      statuses: checksum(columns.statuses),
      states: checksum(columns.states),
      next: 0,
    }),
  };

  it('is read', () => {
    const pack = walkedPackFromRow(new Row(row));
    expect(pack).toMatchObject({ key: 2 ** 40, isStaged: false });
    expect([pack.records, pack.statuses.bytes, pack.states]).toEqual(Object.values(columns));
    expect(walkedPackFromRow(new Row({ ...row, staged: 1 })).isStaged).toBe(true);
  });

  it.each(['records', 'statuses', 'states'] as const)('with other %s is damaged', (column) => {
    const bytes = columns[column].slice();
    bytes[0]! ^= 1;
    const damaged = { ...row, [column]: cell(bytes) };
    expect(() => walkedPackFromRow(new Row(damaged))).toThrow(LedgerDamaged);
    expect(() => walkedPackFromRow(new Row(damaged))).toThrow(column);
  });
});
