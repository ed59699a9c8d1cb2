/**
 * JSON objects of which nothing is known: anybody may have written them, so each field is checked
 * when it is read.
 */
import { fromHex } from './bytes.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** JSON whose fields are not what they should be. The message is a sentence for people. */
export class BadJson extends Error {
  override readonly name = 'BadJson';
}

export function asObject(value: unknown): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BadJson('not a JSON object');
  return value as JsonObject;
}

export function text(object: JsonObject, field: string): string {
  const value = object[field];
  if (typeof value !== 'string') throw new BadJson(`"${field}" is no text`);
  return value;
}

/** The bytes of `0x…`. Where there are none, the reference prints the empty text. */
export function bytes(object: JsonObject, field: string): Uint8Array {
  const hex = text(object, field);
  try {
    return hex === '' ? new Uint8Array() : fromHex(hex);
  } catch (error) {
    if (error instanceof SyntaxError) throw new BadJson(`"${field}" is not hex`);
    throw error;
  }
}

export function integer(object: JsonObject, field: string, max = 0xffffffff): number {
  const value = object[field];
  if (!Number.isInteger(value) || (value as number) < 0 || (value as number) > max) {
    throw new BadJson(`"${field}" is no integer from 0 to ${max}`);
  }
  return value as number;
}

export function flag(object: JsonObject, field: string): boolean {
  const value = object[field];
  if (typeof value !== 'boolean') throw new BadJson(`"${field}" is neither true nor false`);
  return value;
}

/** A array, for which null stands when it is empty. */
export function array(object: JsonObject, field: string): readonly unknown[] {
  const value = object[field] ?? [];
  if (!Array.isArray(value)) throw new BadJson(`"${field}" is no list`);
  return value;
}
