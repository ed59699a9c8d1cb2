/** Bytes of anybody as a person reads them, and which input the ledger refused. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prettify } from '../../explorer/format.ts';
import { findSpentInput } from '../../explorer/transaction/conflict.ts';
import { readData } from '../../explorer/words/data.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);

describe('data', () => {
  it.each([
    ['hello\n\tworld', 'text', 'hello\n\tworld'],
    ['שלום', 'text', 'שלום'],
    ['17', 'text', '17'],
    ['"a"', 'text', '"a"'],
    ['null', 'text', 'null'],
    ['{"a":[1]}', 'JSON', '{\n  "a": [\n    1\n  ]\n}'],
    [' [ ] ', 'JSON', '[]'],
    ['{"a":12345678901234567890}', 'JSON', '{"a":12345678901234567890}'],
    ['{"a":1,"a":2}', 'JSON', '{"a":1,"a":2}'],
    ['a\u0000b', 'hex', '0x610062'],
    ['a\u001b[2J', 'hex', '0x611b5b324a'],
    ['a\u009b', 'hex', '0x61c29b'],
    [' \n', 'hex', '0x200a'],
    ['\u200b', 'hex', '0xe2808b'],
  ])('%j is %s', (text, form, shown) => {
    expect(readData(bytesOf(text))).toEqual({ form, text: shown });
  });

  it.each([65, 4096, 16_000])('JSON of %i levels is text', (levels) => {
    const text = '['.repeat(levels) + ']'.repeat(levels);
    expect(readData(bytesOf(text))).toEqual({ form: 'text', text });
    expect(prettify(text)).toBe(text);
  });

  it('that is no UTF-8 is hex', () => {
    expect(readData(Uint8Array.of(0xff, 0xfe))).toEqual({ form: 'hex', text: '0xfffe' });
    expect(readData(new Uint8Array())).toBeUndefined();
  });

  it('loses nothing', () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ minLength: 1 }), fc.json().map(bytesOf)), (bytes) => {
        const { form, text } = readData(bytes)!;
        if (form === 'hex') expect(text).toBe(`0x${Buffer.from(bytes).toString('hex')}`);
        else if (form === 'text') expect(bytesOf(text)).toEqual(new Uint8Array(bytes));
        else
          expect(text.replaceAll(/\s/g, '')).toBe(
            new TextDecoder().decode(bytes).replaceAll(/\s/g, ''),
          );
      }),
      { numRuns: 1000 },
    );
  });
});

describe('the input that decided', () => {
  const INDEX = 100;
  const id = (digit: string) => `0x${digit.repeat(64)}`;
  /** @param spent index of the milestone that spent it */
  const booked = (milestoneIndexBooked: number, spent?: number) => ({
    blockId: id('b'),
    transactionId: id('c'),
    outputIndex: 0,
    isSpent: spent !== undefined,
    milestoneIndexBooked,
    milestoneTimestampBooked: 1,
    ledgerIndex: 200,
    ...(spent !== undefined && {
      milestoneIndexSpent: spent,
      milestoneTimestampSpent: 1,
      transactionIdSpent: id('d'),
    }),
  });
  const unspent = booked(1);
  const find = (reason: number, ...inputs: (ReturnType<typeof booked> | undefined)[]) =>
    findSpentInput(reason, inputs, INDEX);
  const by = (input: number, milestoneIndex: number) => ({
    input,
    spentBy: { transactionId: id('d'), milestoneIndex },
  });

  it('was spent in an earlier milestone', () => {
    expect(find(1, unspent, booked(1, 99), booked(1, 98))).toEqual(by(1, 99));
    expect(find(1, booked(1, 101), booked(1, 99))).toEqual(by(1, 99));
    // what is pruned was perhaps spent before
    expect(find(1, undefined, booked(1, 99))).toBeUndefined();
    expect(find(1, booked(1, 99), undefined)).toEqual(by(0, 99));
    expect(find(1, unspent, undefined)).toEqual({ input: 1, spentBy: undefined });
  });

  it('was spent earlier in the same milestone, if it is the only one', () => {
    expect(find(2, unspent, booked(1, INDEX))).toEqual(by(1, INDEX));
    expect(find(2, booked(1, INDEX), booked(1, INDEX))).toBeUndefined();
  });

  it('was not in the ledger', () => {
    expect(find(3, unspent, undefined)).toEqual({ input: 1, spentBy: undefined });
    expect(find(3, booked(101), undefined)).toEqual({ input: 0, spentBy: undefined });
    expect(find(3, booked(INDEX), unspent)).toEqual({ input: 0, spentBy: undefined });
    expect(find(3, booked(INDEX), undefined)).toBeUndefined();
  });

  it.each([0, 4, 9, 12])('is none where the ledger did not decide: conflict %i', (reason) => {
    expect(find(reason, undefined, booked(1, 99))).toBeUndefined();
  });
});
