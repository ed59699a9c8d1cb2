/**
 * Block records and cones of them (src/ledger/packs/), with numbers of all 53 bits: records
 * give back what they were made of, excluded ones are not found, and later ones take the place of
 * earlier ones.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type BlockRecord,
  decodeRecord,
  encodeRecord,
  renumberOutputs,
} from '../../../src/ledger/packs/block-record.ts';
import { NumberMap } from '../../../src/ledger/packs/number-map.ts';
import { type RecordCone, readCone } from '../../../src/ledger/packs/record-cone.ts';
import { concatBytes } from '../../../src/stardust/encoding/bytes.ts';
import { ConflictReason } from '../../../src/stardust/semantics/verdict.ts';
import {
  BlockKind,
  inputsAt,
  isUndecidedAt,
  outputsAt,
} from '../../../src/stardust/white-flag/cone.ts';

const EDGES = [1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, 2 ** 48, Number.MAX_SAFE_INTEGER];

const number = fc.oneof(
  fc.integer({ min: 1, max: 300 }),
  fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  fc.constantFrom(...EDGES),
);

const numbers = (most: number) => fc.array(number, { minLength: 1, maxLength: most });
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });

const step = fc.record({
  reason: fc.constantFrom(...Object.values(ConflictReason)),
  from: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
});

const base = { number, parents: numbers(8), leaf: hash };

const record: fc.Arbitrary<BlockRecord> = fc.oneof(
  fc.record(base),
  fc.record({ ...base, milestone: fc.record({ id: hash, isVerified: fc.boolean() }) }),
  fc.record({
    ...base,
    transaction: fc.record({
      inputs: numbers(128),
      outputs: numbers(128),
      steps: fc.array(step, { maxLength: 4 }),
    }),
  }),
);

function expectRecord(cone: RecordCone, position: number, each: BlockRecord): void {
  expect(cone.numberAt(position)).toBe(each.number);
  const parents = Array.from({ length: cone.parentCountAt(position) }, (_, i) =>
    cone.parentAt(position, i),
  );
  expect(parents).toEqual(each.parents);
  const leaf = new Uint32Array(8);
  cone.copyLeaf(position, leaf, 0);
  expect(new Uint8Array(leaf.buffer)).toEqual(each.leaf);
  expect(inputsAt(cone, position)).toEqual(each.transaction?.inputs ?? []);
  expect(outputsAt(cone, position)).toEqual(each.transaction?.outputs ?? []);
  const isUndecided = each.transaction !== undefined && each.transaction.steps.length === 0;
  expect(isUndecidedAt(cone, position)).toBe(isUndecided);
  const kind = cone.kindAt(position);
  if (each.milestone) {
    expect(cone.milestoneIdAt(position)).toEqual(each.milestone.id);
    const { Milestone, UnverifiedMilestone } = BlockKind;
    expect(kind).toBe(each.milestone.isVerified ? Milestone : UnverifiedMilestone);
  } else {
    expect(kind).toBe(each.transaction ? BlockKind.Transaction : BlockKind.Plain);
  }
}

describe('records', () => {
  it('give back what they were made of', () => {
    fc.assert(
      fc.property(record, (each) => {
        const bytes = encodeRecord(each);
        expect(bytes.length % 3).toBe(0);
        expect(decodeRecord(bytes)).toEqual(each);
        expectRecord(readCone([bytes]), 0, each);
      }),
    );
  });

  it('take no number that does not fit', () => {
    const plain = { number: 1, parents: [1], leaf: new Uint8Array(32) };
    const transaction = { inputs: [1], outputs: [1], steps: [] };
    const wrong: BlockRecord[] = [2 ** 53, -1, 0.5].flatMap((no) => [
      { ...plain, number: no },
      { ...plain, parents: [no] },
      { ...plain, transaction: { ...transaction, inputs: [no] } },
      { ...plain, transaction: { ...transaction, outputs: [no] } },
    ]);
    const many = Array.from({ length: 256 }, () => 1);
    wrong.push({ ...plain, parents: many });
    wrong.push({ ...plain, transaction: { ...transaction, inputs: many } });
    for (const each of wrong) expect(() => encodeRecord(each)).toThrow(RangeError);
  });

  it('get other numbers of outputs, and nothing else changes', () => {
    const shift = (output: number) => (output % 1000) + 2 ** 40;
    fc.assert(
      fc.property(fc.array(record, { maxLength: 6 }), (records) => {
        const bytes = concatBytes(...records.map(encodeRecord));
        renumberOutputs(bytes, shift);
        const cone = readCone([bytes]);
        for (const [at, each] of records.entries()) {
          const { transaction } = each;
          expectRecord(cone, at, {
            ...each,
            ...(transaction && {
              transaction: {
                ...transaction,
                inputs: transaction.inputs.map(shift),
                outputs: transaction.outputs.map(shift),
              },
            }),
          });
        }
      }),
    );
  });

  it('that are cut off, or lie about their length, are an error', () => {
    const bytes = encodeRecord({
      number: 2 ** 40,
      parents: [1],
      leaf: new Uint8Array(32),
    });
    for (let length = 1; length < bytes.length; length++)
      expect(() => readCone([bytes.slice(0, length)])).toThrow();
    const short = bytes.slice();
    new DataView(short.buffer).setUint16(7, 3, true);
    expect(() => readCone([short])).toThrow('damaged');
  });
});

describe('a cone', () => {
  it('finds what is not excluded, of two with one number the later', () => {
    const each = fc.record({ record, isExcluded: fc.boolean() });
    fc.assert(
      fc.property(fc.array(each, { maxLength: 20 }), fc.nat(20), (all, split) => {
        const records = all.map(({ record: one }) => one);
        const bytes = records.map(encodeRecord);
        const excluded = (at: number) => all[at]!.isExcluded;
        const asked: [number, number][] = [];
        const cone = readCone(
          [concatBytes(...bytes.slice(0, split)), concatBytes(...bytes.slice(split))],
          (position, no) => {
            asked.push([position, no]);
            return excluded(position);
          },
        );
        expect(asked).toEqual(records.map((one, at) => [at, one.number]));
        expect(cone.size).toBe(all.length);
        for (const [at, one] of records.entries()) {
          expectRecord(cone, at, one);
          expect(cone.recordAt(at)).toEqual(bytes[at]);
          const due = records.findLastIndex((x, i) => x.number === one.number && !excluded(i));
          expect(cone.find(one.number)).toBe(due);
        }
        for (const no of [0, ...EDGES]) {
          if (!records.some((one) => one.number === no)) expect(cone.find(no)).toBe(-1);
        }
      }),
    );
  });
});

describe('the map from numbers', () => {
  it('is a Map, beyond 2^32 too', () => {
    // the same low 32 bits, so that they meet
    const meeting = fc
      .tuple(fc.nat(5), fc.nat(2 ** 21 - 1))
      .map(([low, high]) => Math.max(1, high * 2 ** 32 + low));
    const entry = fc.tuple(fc.oneof(number, meeting), fc.integer());
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 400 }), (entries) => {
        const map = new NumberMap();
        const model = new Map<number, number>();
        for (const [key, value] of entries) {
          map.set(key, value);
          model.set(key, value);
        }
        expect(map.size).toBe(model.size);
        expect(new Map(map.entries())).toEqual(model);
        for (const [key, value] of model) expect(map.get(key)).toBe(value);
        for (const key of [...EDGES, 2 ** 50 + 1])
          expect([map.has(key), map.get(key)]).toEqual([model.has(key), model.get(key)]);
      }),
    );
  });
});
