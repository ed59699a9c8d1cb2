/**
 * JSON objects of vectors. Anybody may have written them, so each field is checked when it is read.
 */
import { fromHex } from '../../src/stardust/bytes.ts';

/** A vector, or an object inside of one. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A vector whose fields are not what they should be. The message is a sentence for people. */
export class BadVector extends Error {
  override readonly name = 'BadVector';
}

export function asObject(value: unknown): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BadVector('not a JSON object');
  return value as JsonObject;
}

export function text(object: JsonObject, field: string): string {
  const value = object[field];
  if (typeof value !== 'string') throw new BadVector(`"${field}" is no text`);
  return value;
}

/** The bytes of `0x…`. Where there are none, the reference prints the empty text. */
export function bytes(object: JsonObject, field: string): Uint8Array {
  const hex = text(object, field);
  try {
    return hex === '' ? new Uint8Array() : fromHex(hex);
  } catch (error) {
    if (error instanceof SyntaxError) throw new BadVector(`"${field}" is not hex`);
    throw error;
  }
}

export function integer(object: JsonObject, field: string, max = 0xffffffff): number {
  const value = object[field];
  if (!Number.isInteger(value) || (value as number) < 0 || (value as number) > max) {
    throw new BadVector(`"${field}" is no integer from 0 to ${max}`);
  }
  return value as number;
}

export function flag(object: JsonObject, field: string): boolean {
  const value = object[field];
  if (typeof value !== 'boolean') throw new BadVector(`"${field}" is neither true nor false`);
  return value;
}

/** A list, for which null stands when it is empty. */
export function list(object: JsonObject, field: string): readonly unknown[] {
  const value = object[field] ?? [];
  if (!Array.isArray(value)) throw new BadVector(`"${field}" is no list`);
  return value;
}
