/**
 * Codecs: wire formats as values that encode and decode (docs/protocol.md, A.0), combined from
 * integers up to the formats of docs/protocol.md, A. Decoding never recurses deeper than the
 * formats nest, and tests a count before it reads the first element. A StardustError on the way
 * gets the path of fields and positions, and the offset of the innermost.
 *
 * `@__NO_SIDE_EFFECTS__` lets a bundler leave out the codecs that nobody uses.
 */
import { located, refusal } from '../error.ts';
import { compareBytes, equalBytes, Reader, toHexDigits, Writer } from './bytes.ts';

export interface Codec<T> {
  decode(reader: Reader): T;
  encode(writer: Writer, value: T): void;
}

/** An unsigned integer that a count or a length can be written as. */
export interface Prefix extends Codec<number> {
  max: number;
}

export const u8: Prefix = { decode: (r) => r.u8(), encode: (w, v) => w.u8(v), max: 0xff };
export const u16: Prefix = { decode: (r) => r.u16(), encode: (w, v) => w.u16(v), max: 0xffff };
export const u32: Prefix = {
  decode: (r) => r.u32(),
  encode: (w, v) => w.u32(v),
  max: 0xffff_ffff,
};
export const u64: Codec<bigint> = { decode: (r) => r.u64(), encode: (w, v) => w.u64(v) };
export const u256: Codec<bigint> = { decode: (r) => r.u256(), encode: (w, v) => w.u256(v) };

/** One byte, 0 or 1; any other is refused (A.0). */
export const bool: Codec<boolean> = {
  decode: (r) => {
    const byte = r.u8();
    if (byte > 1) throw refusal('A.0', `boolean byte ${byte}`);
    return byte === 1;
  },
  encode: (w, v) => w.u8(v ? 1 : 0),
};

/** Returns a Writer's error for a number that does not fit as a StardustError. */
function unfit(error: unknown): unknown {
  return error instanceof RangeError ? refusal('A.0', error.message, { cause: error }) : error;
}

/** Exactly `length` bytes. */
// @__NO_SIDE_EFFECTS__
export function fixed(length: number): Codec<Uint8Array> {
  return {
    decode: (r) => r.take(length),
    encode: (w, v) => {
      if (v.length !== length) throw refusal('A.0', `${v.length} bytes, not ${length}`);
      w.put(v);
    },
  };
}

/** Writes a count or a length. One that does not fit is refused: a value from JSON may have any. */
function encodePrefix(w: Writer, prefix: Prefix, length: number, rule: string): void {
  if (length > prefix.max) throw refusal(rule, `length ${length}, at most ${prefix.max}`);
  prefix.encode(w, length);
}

/** A length and that many bytes, `min` to `max` of them. */
// @__NO_SIDE_EFFECTS__
export function byteString(
  rule: string,
  prefix: Prefix,
  min: number,
  max: number,
): Codec<Uint8Array> {
  return {
    decode: (r) => {
      const length = prefix.decode(r);
      if (length < min || length > max)
        throw refusal(rule, `${length} bytes, not ${min} to ${max}`);
      return r.take(length);
    },
    encode: (w, v) => {
      encodePrefix(w, prefix, v.length, rule);
      w.put(v);
    },
  };
}

/** A value that is always the same on the wire, such as a type byte. */
// @__NO_SIDE_EFFECTS__
export function constant<const T extends number>(
  rule: string,
  integer: Codec<number>,
  expected: T,
): Codec<T> {
  return {
    decode: (r) => {
      const value = integer.decode(r);
      if (value !== expected) throw refusal(rule, `type ${value} where ${expected} is due`);
      return expected;
    },
    encode: (w, v) => integer.encode(w, v),
  };
}

/** Fields in the order in which they are named. */
// @__NO_SIDE_EFFECTS__
export function record<T extends object>(fields: { [K in keyof T]: Codec<T[K]> }): Codec<T> {
  const entries = Object.entries(fields) as [keyof T, Codec<T[keyof T]>][];
  return {
    decode: (r) => {
      const value: Partial<T> = {};
      let field = '';
      let start = r.position;
      try {
        for (const [name, codec] of entries) {
          field = name as string;
          start = r.position;
          value[name] = codec.decode(r);
        }
      } catch (error) {
        throw located(error, field, start);
      }
      return value as T;
    },
    encode: (w, v) => {
      let field = '';
      try {
        for (const [name, codec] of entries) {
          field = name as string;
          codec.encode(w, v[name]);
        }
      } catch (error) {
        throw located(unfit(error), field);
      }
    },
  };
}

/** A union of records, told apart by the type number that each begins with. */
// @__NO_SIDE_EFFECTS__
export function union<T extends { type: number }>(
  rule: string,
  integer: Codec<number>,
  cases: { [K in T['type']]: Codec<Extract<T, { type: K }>> },
): Codec<T> {
  const byType = new Map(
    Object.entries(cases).map(([type, codec]) => [Number(type), codec as Codec<T>]),
  );
  return {
    decode: (r) => {
      const start = r.position;
      const type = integer.decode(r);
      const codec = byType.get(type);
      if (codec === undefined) throw refusal(rule, `type ${type} is not allowed here`);
      r.position = start;
      return codec.decode(r);
    },
    encode: (w, v) => {
      const codec = byType.get(v.type);
      if (codec === undefined) throw refusal(rule, `type ${v.type} is not allowed here`);
      codec.encode(w, v);
    },
  };
}

export interface ListRules {
  rule: string;
  min: number;
  max: number;
  /** `ascending`: each element's bytes are greater than the last one's. `unique`: none are alike. */
  order?: 'ascending' | 'unique';
  /** Bytes of each element that order and uniqueness look at (A.0). Default: all. */
  compared?: number;
}

/** A count and that many elements. */
// @__NO_SIDE_EFFECTS__
export function list<T>(prefix: Prefix, element: Codec<T>, rules: ListRules): Codec<T[]> {
  const { rule, min, max, order, compared } = rules;
  return {
    decode: (r) => {
      const count = prefix.decode(r);
      if (count < min || count > max)
        throw refusal(rule, `${count} elements, not ${min} to ${max}`);
      const values: T[] = [];
      const seen = new Set<string>();
      let previous: Uint8Array | undefined;
      let i = 0;
      let start = r.position;
      try {
        for (; i < count; i++) {
          start = r.position;
          values.push(element.decode(r));
          const key = r.bytes.subarray(
            start,
            Math.min(r.position, start + (compared ?? Number.POSITIVE_INFINITY)),
          );
          if (order === 'ascending' && previous !== undefined && compareBytes(previous, key) >= 0)
            throw refusal(rule, `element ${i} is not greater than the one before`);
          if (order === 'unique') {
            const text = toHexDigits(key);
            if (seen.has(text)) throw refusal(rule, `element ${i} is there twice`);
            seen.add(text);
          }
          previous = key;
        }
      } catch (error) {
        throw located(error, i, start);
      }
      return values;
    },
    encode: (w, v) => {
      encodePrefix(w, prefix, v.length, rule);
      let i = 0;
      try {
        for (; i < v.length; i++) element.encode(w, v[i]!);
      } catch (error) {
        throw located(unfit(error), i);
      }
    },
  };
}

/**
 * Codec of a 32-bit length and a payload of that length; 0 means none (A.0, "optional payload").
 */
// @__NO_SIDE_EFFECTS__
export function optionalPayload<T>(rule: string, payload: Codec<T>): Codec<T | undefined> {
  return {
    decode: (r) => {
      const length = r.u32();
      if (length === 0) return undefined;
      const end = r.position + length;
      if (length > r.remaining)
        throw refusal(rule, `payload of ${length} bytes, ${r.remaining} left`);
      const value = payload.decode(r);
      if (r.position !== end)
        throw refusal(rule, `payload of ${length} bytes ends at offset ${r.position}, not ${end}`);
      return value;
    },
    encode: (w, v) => {
      if (v === undefined) {
        w.u32(0);
        return;
      }
      const bytes = encode(payload, v);
      w.u32(bytes.length).put(bytes);
    },
  };
}

/**
 * Decodes all of the bytes; throws a {@link StardustError} of `rule` if some are left over. The
 * value's byte fields are views of them.
 */
export function decode<T>(codec: Codec<T>, bytes: Uint8Array, rule = 'A.0'): T {
  const reader = new Reader(bytes);
  const value = codec.decode(reader);
  if (reader.remaining !== 0)
    throw refusal(rule, `${reader.remaining} bytes left over`, { offset: reader.position });
  return value;
}

/** Writers that are not in use: to make one takes as long as to encode an address. */
const writers: Writer[] = [];

export function encode<T>(codec: Codec<T>, value: T): Uint8Array<ArrayBuffer> {
  // an encoder may encode on its way
  const writer = writers.pop() ?? new Writer();
  try {
    codec.encode(writer, value);
    return writer.finish();
  } finally {
    writer.clear();
    writers.push(writer);
  }
}

/**
 * Encodes a value that anybody may have made, and decodes it again: what the codec refuses to
 * decode is not encoded either. Throws a {@link StardustError}.
 */
export function encodeChecked<T>(codec: Codec<T>, value: T): Uint8Array<ArrayBuffer> {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = encode(codec, value);
  } catch (error) {
    // a field that is missing, or of another type
    if (error instanceof TypeError) throw refusal('A.0', error.message, { cause: error });
    throw error;
  }
  requireSameValue(decode(codec, bytes), value);
  return bytes;
}

/**
 * Throws a StardustError unless both are the same. `decoded` decides which fields there are:
 * another one that has a value would be lost.
 */
function requireSameValue(decoded: unknown, given: unknown): void {
  const isNested = typeof decoded === 'object' && decoded !== null;
  const same =
    decoded instanceof Uint8Array
      ? given instanceof Uint8Array && equalBytes(decoded, given)
      : isNested
        ? typeof given === 'object' && given !== null && lengthOf(decoded) === lengthOf(given)
        : decoded === given;
  if (!same) throw refusal('A.0', 'the bytes say something else than the value');
  if (!isNested || decoded instanceof Uint8Array) return;
  for (const [name, part] of Object.entries(given as object))
    if (part !== undefined && !Object.hasOwn(decoded, name))
      throw refusal('A.0', 'the format has no such field').within(name);
  for (const [name, part] of Object.entries(decoded)) {
    try {
      requireSameValue(part, (given as Record<string, unknown>)[name]);
    } catch (error) {
      throw located(error, Array.isArray(decoded) ? Number(name) : name);
    }
  }
}

function lengthOf(value: object): number | undefined {
  return Array.isArray(value) ? value.length : undefined;
}
