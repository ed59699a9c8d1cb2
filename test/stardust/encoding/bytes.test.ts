/**
 * Integers in bytes (src/stardust/encoding/bytes.ts): what does not fit is an error, never another
 * number.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  getUint56,
  Reader,
  setUint32,
  setUint56,
  UINT56_BYTES,
  Writer,
} from '../../../src/stardust/encoding/bytes.ts';
import { StardustError } from '../../../src/stardust/error.ts';

interface Width {
  name: string;
  length: number;
  max: bigint;
  write(writer: Writer, value: bigint): Writer;
  read(reader: Reader): bigint;
}

type Small = 'u8' | 'u16' | 'u32' | 'u56';
type Large = 'u64' | 'u256';

const small = (name: Small, length: number, max: number): Width => ({
  name,
  length,
  max: BigInt(max),
  write: (writer, value) => writer[name](Number(value)),
  read: (reader) => BigInt(reader[name]()),
});

const large = (name: Large, length: number): Width => ({
  name,
  length,
  max: (1n << BigInt(8 * length)) - 1n,
  write: (writer, value) => writer[name](value),
  read: (reader) => reader[name](),
});

const WIDTHS: Width[] = [
  small('u8', 1, 0xff),
  small('u16', 2, 0xffff),
  small('u32', 4, 2 ** 32 - 1),
  small('u56', 7, Number.MAX_SAFE_INTEGER),
  large('u64', 8),
  large('u256', 32),
];

/** At which other widths end. */
const EDGES = [0n, 1n, 8n, 16n, 32n, 48n, 53n, 64n, 256n].flatMap((bits) => [
  (1n << bits) - 1n,
  1n << bits,
]);

describe.each(WIDTHS)('$name', ({ length, max, write, read }) => {
  const value = fc.oneof(
    fc.bigInt({ min: 0n, max }),
    fc.constantFrom(...EDGES.filter((edge) => edge <= max)),
  );

  it('gives back what was written, little-endian', () => {
    fc.assert(
      fc.property(fc.array(value), (values) => {
        const writer = new Writer();
        for (const each of values) write(writer, each);
        const bytes = writer.finish();
        expect(bytes).toHaveLength(length * values.length);
        const reader = new Reader(bytes);
        expect(values.map(() => read(reader))).toEqual(values);
        const [first] = values;
        if (first !== undefined)
          expect(BigInt(`0x${bytes.slice(0, length).reverse().toHex()}`)).toBe(first);
      }),
    );
  });

  it('takes nothing larger than its largest, nor anything below zero', () => {
    for (const wrong of [max + 1n, max + 2n, 1n << 300n, -1n, -max]) {
      const writer = new Writer();
      expect(() => write(writer, wrong)).toThrow(RangeError);
    }
    expect(write(new Writer(), max).length).toBe(length);
  });

  it('is not read where its last byte is missing', () => {
    expect(() => read(new Reader(new Uint8Array(length - 1)))).toThrow(StardustError);
  });
});

const WRONG_NUMBERS = [0.5, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0.5];

describe('a number that is no integer', () => {
  it.each(['u8', 'u16', 'u32', 'u56'] as const)('is not written as %s', (name) => {
    for (const wrong of WRONG_NUMBERS) expect(() => new Writer()[name](wrong)).toThrow(RangeError);
  });
});

describe('in place', () => {
  const EACH = [
    { name: 'uint32', set: setUint32, max: 2 ** 32 - 1 },
    { name: 'uint56', set: setUint56, max: Number.MAX_SAFE_INTEGER },
  ];

  it.each(EACH)('$name that does not fit is refused, and nothing is changed', ({ set, max }) => {
    const view = new DataView(new ArrayBuffer(16));
    for (const wrong of [...WRONG_NUMBERS, -1, max + 1, 2 ** 60])
      expect(() => set(view, 0, wrong)).toThrow(RangeError);
    expect(new Uint8Array(view.buffer)).toEqual(new Uint8Array(16));
    set(view, 3, max);
  });

  it('a uint56 is read as it was written, and its neighbours stay', () => {
    const value = fc.oneof(
      fc.maxSafeNat(),
      fc.constantFrom(2 ** 32 - 1, 2 ** 32, 2 ** 48, 2 ** 53 - 1),
    );
    fc.assert(
      fc.property(value, fc.nat(8), (number, offset) => {
        const bytes = new Uint8Array(16).fill(0xaa);
        const view = new DataView(bytes.buffer);
        setUint56(view, offset, number);
        expect(getUint56(view, offset)).toBe(number);
        const others = bytes.filter((_, at) => at < offset || at >= offset + UINT56_BYTES);
        expect(others).toEqual(new Uint8Array(16 - UINT56_BYTES).fill(0xaa));
      }),
    );
  });
});
