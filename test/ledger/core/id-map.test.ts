/** The map from IDs to numbers (src/ledger/core/id-map.ts) beside a Map that does the same. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IdMap } from '../../../src/ledger/core/id-map.ts';

/** Lengths of the IDs of blocks and outputs, in bytes. */
const LENGTHS = [32, 34];

/** Few IDs that differ in one byte each, so that they meet often. */
const idOf = (length: number) =>
  fc
    .record({ at: fc.nat(length - 1), value: fc.nat(3) })
    .map(({ at, value }) => new Uint8Array(length).fill(value, at, at + 1).toHex());

const number = fc.oneof(fc.nat(), fc.maxSafeNat(), fc.constant(Number.MAX_SAFE_INTEGER));

function expectSame(map: IdMap, model: ReadonlyMap<string, number>, absent: readonly string[]) {
  expect(map.size).toBe(model.size);
  for (const [index, [id, value]] of [...model].entries()) {
    expect(map.has(id)).toBe(true);
    expect(map.get(id)).toBe(value);
    expect(map.indexOf(id)).toBe(index);
    expect(map.idAt(index)).toBe(id);
    expect(map.numberAt(index)).toBe(value);
  }
  for (const id of absent) {
    if (model.has(id)) continue;
    expect([map.has(id), map.get(id), map.indexOf(id)]).toEqual([false, undefined, -1]);
  }
}

describe.each(LENGTHS)('IDs of %i bytes', (length) => {
  it('are found with the numbers set last, in the order of coming', () => {
    const entries = fc.array(fc.tuple(idOf(length), number), { maxLength: 120 });
    fc.assert(
      fc.property(entries, fc.array(idOf(length)), (sets, others) => {
        const map = new IdMap(length);
        const model = new Map<string, number>();
        for (const [id, value] of sets) {
          const isNew = !model.has(id);
          model.set(id, value);
          expect(map.set(id, value)).toBe(isNew ? model.size - 1 : map.indexOf(id));
        }
        expectSame(map, model, others);
      }),
    );
  });

  it('are left as whoever retains some says', () => {
    const entries = fc.array(fc.tuple(idOf(length), fc.nat(9)), { maxLength: 120 });
    fc.assert(
      fc.property(entries, fc.nat(9), (sets, limit) => {
        const map = new IdMap(length);
        for (const [id, value] of sets) map.set(id, value);
        const model = new Map(sets);
        const kept = new Map([...model].filter(([, value]) => value < limit));
        map.retain((value) => value < limit);
        expectSame(map, kept, [...model.keys()]);
        const added = 'ff'.repeat(length);
        map.set(added, 1);
        expectSame(map, kept.set(added, 1), []);
      }),
    );
  });

  it('have a second number only where it was set', () => {
    const entry = fc.tuple(idOf(length), fc.nat(9), fc.option(fc.nat(9), { nil: undefined }));
    const entries = fc.array(entry, { maxLength: 60 });
    fc.assert(
      fc.property(entries, fc.nat(9), entries, (before, limit, after) => {
        const map = new IdMap(length, 2);
        const model = new Map<string, [first: number, second: number]>();
        const setAll = (sets: typeof before) => {
          for (const [id, value, second] of sets) {
            map.set(id, value, second);
            model.set(id, [value, second ?? model.get(id)?.[1] ?? 0]);
          }
        };
        setAll(before);
        map.retain(
          (value) => value < limit,
          (value) => 2 * value,
        );
        for (const [id, [value]] of model)
          if (value < limit) model.set(id, [value, 2 * value]);
          else model.delete(id);
        setAll(after);
        for (const [id, numbers] of model)
          expect([map.get(id), map.getSecond(id)]).toEqual(numbers);
      }),
    );
  });

  it('are as many as come, also where they differ in their last bytes only', () => {
    const map = new IdMap(length);
    const model = new Map<string, number>();
    for (let i = 0; i < 20_000; i++) {
      const id = i.toString(16).padStart(2 * length, '0');
      map.set(id, 2 ** 40 + i);
      model.set(id, 2 ** 40 + i);
    }
    expectSame(map, model, ['ff'.repeat(length)]);
  });

  it('of another length are an error', () => {
    const map = new IdMap(length);
    expect(() => map.set('ab'.repeat(length + 1), 1)).toThrow(`an ID of ${2 * length + 2} digits`);
    expect(() => map.set('ab'.repeat(length - 1), 1)).toThrow(`an ID of ${2 * length - 2} digits`);
    expect(map.size).toBe(0);
  });
});
