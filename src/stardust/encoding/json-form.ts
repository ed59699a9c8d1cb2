/**
 * Forms: JSON of the REST API as values that read and write it (TIP-25), as codecs do for bytes
 * (codec.ts). Reading checks the form alone: encode the result and parse that for other rules.
 */
import { StardustError } from '../error.ts';
import { toHex } from './bytes.ts';
import {
  array,
  asObject,
  bytes,
  flag,
  integer,
  isAbsent,
  type JsonObject,
  part,
  parts,
  text,
} from './json-object.ts';

export type Json = string | number | boolean | readonly Json[] | RestObject;
export interface RestObject {
  readonly [field: string]: Json;
}

export interface Field<T> {
  read(object: JsonObject, name: string): T;
  /** Returns undefined if the field is left out. */
  write(value: T): Json | undefined;
  /** Name in JSON, if it is another one than in the value. */
  name?: string;
}

export interface Form<T> {
  fromJson(json: unknown): T;
  toJson(value: T): RestObject;
}

/** An object with these fields, written in their order. */
// @__NO_SIDE_EFFECTS__
export function form<T extends object>(fields: { [K in keyof T]-?: Field<T[K]> }): Form<T> {
  const entries = Object.entries(fields) as [keyof T & string, Field<unknown>][];
  return {
    fromJson(json) {
      const object = asObject(json);
      const value: Partial<Record<keyof T, unknown>> = {};
      for (const [key, { read, name = key }] of entries) value[key] = read(object, name);
      return value as T;
    },
    toJson(value) {
      const object: Record<string, Json> = {};
      for (const [key, { write, name = key }] of entries) {
        const json = write(value[key]);
        if (json !== undefined) object[name] = json;
      }
      return object;
    },
  };
}

/** One of several objects, told apart by their types. */
// @__NO_SIDE_EFFECTS__
export function byType<T extends { type: number }>(
  what: string,
  forms: { [K in T['type']]: Form<Extract<T, { type: K }>> },
): Form<T> {
  const formOf = new Map(
    Object.entries<Form<T>>(forms).map(([type, each]) => [Number(type), each]),
  );
  return {
    fromJson(json) {
      const object = asObject(json);
      const found = formOf.get(object.type as number);
      if (found === undefined) throw unknownType(what, object);
      return found.fromJson(object);
    },
    toJson: (value) => formOf.get(value.type)!.toJson(value),
  };
}

// @__NO_SIDE_EFFECTS__
export function only<const T extends number>(type: T): Field<T> {
  return {
    read(object) {
      if (object.type !== type) throw unknownType('object', object);
      return type;
    },
    write: () => type,
  };
}

function unknownType(what: string, { type }: JsonObject): StardustError {
  return new StardustError(
    'TIP-25',
    `${what} of type ${typeof type === 'number' ? type : typeof type}`,
  );
}

/** A field with another name in JSON. */
// @__NO_SIDE_EFFECTS__
export function renamed<T>(name: string, field: Field<T>): Field<T> {
  return { ...field, name };
}

// @__NO_SIDE_EFFECTS__
export function of<T>({ fromJson, toJson }: Form<T>): Field<T> {
  return { read: (object, name) => part(object, name, fromJson), write: toJson };
}

// @__NO_SIDE_EFFECTS__
export function optional<T>({ read, write }: Field<T>): Field<T | undefined> {
  return {
    read: (object, name) => (isAbsent(object[name]) ? undefined : read(object, name)),
    write: (value) => (value === undefined ? undefined : write(value)),
  };
}

/** A list; null stands for an empty one, as Go writes it. */
// @__NO_SIDE_EFFECTS__
export function listOf<T>({ fromJson, toJson }: Form<T>): Field<T[]> {
  return {
    read: (object, name) => parts(object, name, fromJson),
    write: (values) => values.map(toJson),
  };
}

/** A list or text that is left out when it is empty. */
// @__NO_SIDE_EFFECTS__
export function unlessEmpty<T extends { length: number }>({ read, write }: Field<T>): Field<T> {
  return { read, write: (value) => (value.length === 0 ? undefined : write(value)) };
}

// @__NO_SIDE_EFFECTS__
export function unsigned(max = 0xffff_ffff): Field<number> {
  return { read: (object, name) => integer(object, name, max), write: (value) => value };
}

export const truth: Field<boolean> = { read: flag, write: (value) => value };

/** Bytes of any number, the empty text for none. */
export const byteText: Field<Uint8Array> = {
  read: bytes,
  write: (value) => (value.length === 0 ? '' : toHex(value)),
};

/** Bytes that are left out when there are none. */
export const optionalBytes: Field<Uint8Array> = {
  read: (object, name) => (isAbsent(object[name]) ? new Uint8Array() : bytes(object, name)),
  write: (value) => (value.length === 0 ? undefined : toHex(value)),
};

/** Bytes of a fixed length. */
// @__NO_SIDE_EFFECTS__
export function hash(length = 32): Field<Uint8Array> {
  return {
    read(object, name) {
      const value = bytes(object, name);
      if (value.length !== length)
        throw new StardustError('TIP-25', `"${name}" has ${value.length} bytes, not ${length}`);
      return value;
    },
    write: toHex,
  };
}

export const hashes: Field<Uint8Array[]> = {
  read(object, name) {
    const { read } = hash();
    return array(object, name).map((value) => read({ [name]: value }, name));
  },
  write: (values) => values.map(toHex),
};

/** A uint64 in decimal digits. */
export const uint64 = /* @__PURE__ */ digits(64, /^\d{1,20}$/, String);

/** A uint256 in hex digits of the number, not of its bytes: without leading zeros. */
export const uint256 = /* @__PURE__ */ digits(
  256,
  /^0[xX](?:0|[1-9a-fA-F][0-9a-fA-F]{0,63})$/,
  (value) => `0x${value.toString(16)}`,
);

function digits(bits: number, pattern: RegExp, write: (value: bigint) => string): Field<bigint> {
  return {
    read(object, name) {
      const found = text(object, name);
      if (!pattern.test(found) || BigInt(found) >= 1n << BigInt(bits))
        throw new StardustError('TIP-25', `"${name}" is no uint${bits}`);
      return BigInt(found);
    },
    write,
  };
}
