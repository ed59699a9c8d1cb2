/**
 * Bytes: a bounds-checked reader, a growing writer, comparison and hex (by the platform's
 * functions, if there are any). Stardust integers are little-endian and of fixed width (TIP-0021;
 * docs/protocol.md, A.0). A reader hands out views of its buffer: pass a copy if it may change.
 */
import { refusal, StardustError } from '../error.ts';

/** Reads forward over `bytes`; every read past the end is a {@link StardustError} of rule A.0. */
export class Reader {
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  position = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get remaining(): number {
    return this.bytes.length - this.position;
  }

  /** Moves over `length` bytes and returns where they start. */
  #advance(length: number): number {
    const start = this.position;
    if (length > this.bytes.length - start)
      throw refusal('A.0', `${length} bytes needed at offset ${start}, ${this.remaining} left`);
    this.position = start + length;
    return start;
  }

  /** The next `length` bytes: a view, not a copy. */
  take(length: number): Uint8Array {
    const start = this.#advance(length);
    return this.bytes.subarray(start, start + length);
  }

  u8(): number {
    return this.#view.getUint8(this.#advance(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#advance(2), true);
  }

  u32(): number {
    return this.#view.getUint32(this.#advance(4), true);
  }

  u56(): number {
    return getUint56(this.#view, this.#advance(UINT56_BYTES));
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#advance(8), true);
  }

  u256(): bigint {
    const start = this.#advance(32);
    let value = 0n;
    for (let word = 3; word >= 0; word--)
      value = (value << 64n) | this.#view.getBigUint64(start + word * 8, true);
    return value;
  }
}

/** Throws a RangeError unless the value is an integer from 0 to `max`: a DataView would wrap it. */
function requireFit(value: number | bigint, max: number | bigint, type: string): void {
  const isInteger = typeof value === 'bigint' || Number.isSafeInteger(value);
  if (!isInteger || value < 0 || value > max) throw new RangeError(`${value} is not a ${type}`);
}

const MAX_UINT64 = (1n << 64n) - 1n;
const MAX_UINT256 = (1n << 256n) - 1n;

/** Writes a uint32 at this offset; throws a RangeError where it does not fit. */
export function setUint32(view: DataView, offset: number, value: number): void {
  requireFit(value, 0xffff_ffff, 'uint32');
  view.setUint32(offset, value, true);
}

export const UINT56_BYTES = 7;

const TWO_32 = 2 ** 32;

/** Reads seven bytes as an integer; only values up to 2^53 - 1 are ever written. */
export function getUint56(view: DataView, offset: number): number {
  const high = view.getUint16(offset + 4, true) + view.getUint8(offset + 6) * 0x1_0000;
  return view.getUint32(offset, true) + high * TWO_32;
}

/** Writes seven bytes; throws a RangeError above 2^53 - 1, the largest integer of a number. */
export function setUint56(view: DataView, offset: number, value: number): void {
  requireFit(value, Number.MAX_SAFE_INTEGER, 'safe uint56');
  const high = Math.floor(value / TWO_32);
  view.setUint32(offset, value % TWO_32, true);
  view.setUint16(offset + 4, high % 0x1_0000, true);
  view.setUint8(offset + 6, Math.floor(high / 0x1_0000));
}

/** Appends to a buffer that doubles when full. Throws a RangeError if a value does not fit. */
export class Writer {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(256);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Makes room for `length` bytes and returns where they start. May replace buffer and view. */
  #reserve(length: number): number {
    const start = this.#length;
    this.#length = start + length;
    if (this.#length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length));
      grown.set(this.#bytes);
      this.#bytes = grown;
      this.#view = new DataView(grown.buffer);
    }
    return start;
  }

  put(bytes: Uint8Array): this {
    const start = this.#reserve(bytes.length);
    this.#bytes.set(bytes, start);
    return this;
  }

  u8(value: number): this {
    requireFit(value, 0xff, 'uint8');
    const start = this.#reserve(1);
    this.#view.setUint8(start, value);
    return this;
  }

  u16(value: number): this {
    requireFit(value, 0xffff, 'uint16');
    const start = this.#reserve(2);
    this.#view.setUint16(start, value, true);
    return this;
  }

  u32(value: number): this {
    const start = this.#reserve(4);
    setUint32(this.#view, start, value);
    return this;
  }

  u56(value: number): this {
    const start = this.#reserve(UINT56_BYTES);
    setUint56(this.#view, start, value);
    return this;
  }

  u64(value: bigint): this {
    requireFit(value, MAX_UINT64, 'uint64');
    const start = this.#reserve(8);
    this.#view.setBigUint64(start, value, true);
    return this;
  }

  u256(value: bigint): this {
    requireFit(value, MAX_UINT256, 'uint256');
    const start = this.#reserve(32);
    for (let word = 0; word < 4; word++)
      this.#view.setBigUint64(
        start + word * 8,
        BigInt.asUintN(64, value >> BigInt(64 * word)),
        true,
      );
    return this;
  }

  /** A copy of the bytes written so far. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }
}

/** Bytewise order, a prefix first: negative, zero or positive (docs/protocol.md, A.0 "lexical"). */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const difference = a[i]! - b[i]!;
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && compareBytes(a, b) === 0;
}

export function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** `0x` and lower-case digits: the form in JSON (TIP-0025). */
export function toHex(bytes: Uint8Array): string {
  return `0x${toHexDigits(bytes)}`;
}

/** Lower-case digits without 0x: the form of IDs in databases and as keys of maps. */
export const toHexDigits: (bytes: Uint8Array) => string =
  'toHex' in Uint8Array.prototype
    ? (bytes) => bytes.toHex!()
    : (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Decodes `0x…` (or `0X…`, any case). Throws a SyntaxError on anything else. */
export function fromHex(text: string): Uint8Array<ArrayBuffer> {
  if (!/^0[xX]/.test(text)) throw new SyntaxError(`hex without 0x: ${text.slice(0, 20)}`);
  return fromHexDigits(text.slice(2));
}

const fromHexDigits: (digits: string) => Uint8Array<ArrayBuffer> =
  'fromHex' in Uint8Array
    ? (digits) => Uint8Array.fromHex!(digits)
    : (digits) => {
        if (!/^(?:[0-9a-fA-F]{2})*$/.test(digits)) throw new SyntaxError('not pairs of hex digits');
        return Uint8Array.from({ length: digits.length / 2 }, (_, i) =>
          Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16),
        );
      };
