/**
 * Vectors as they are read: JSON that anybody may have written, whose fields are looked at one by one.
 */
import { fromHex } from '../../src/stardust/bytes.ts';

/** One vector: a line of a file, or a whole JSON document. */
export type Line = Readonly<Record<string, unknown>>;

/** A vector that is not what its fields promise. The message is a sentence for people. */
export class BadVector extends Error {}

export function asLine(value: unknown): Line {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BadVector('not a JSON object');
  return value as Line;
}

export function text(line: Line, field: string): string {
  const value = line[field];
  if (typeof value !== 'string') throw new BadVector(`"${field}" is no text`);
  return value;
}

/** The bytes of `0x…`; the reference prints none of them as the empty text. */
export function bytes(line: Line, field: string): Uint8Array {
  const hex = text(line, field);
  try {
    return hex === '' ? new Uint8Array() : fromHex(hex);
  } catch (error) {
    if (error instanceof SyntaxError) throw new BadVector(`"${field}" is not hex`);
    throw error;
  }
}

export function integer(line: Line, field: string, max = 0xffffffff): number {
  const value = line[field];
  if (!Number.isInteger(value) || (value as number) < 0 || (value as number) > max) {
    throw new BadVector(`"${field}" is no integer from 0 to ${max}`);
  }
  return value as number;
}

export function flag(line: Line, field: string): boolean {
  const value = line[field];
  if (typeof value !== 'boolean') throw new BadVector(`"${field}" is neither true nor false`);
  return value;
}

/** A list, for which null stands when it is empty. */
export function list(line: Line, field: string): readonly unknown[] {
  const value = line[field] ?? [];
  if (!Array.isArray(value)) throw new BadVector(`"${field}" is no list`);
  return value;
}
