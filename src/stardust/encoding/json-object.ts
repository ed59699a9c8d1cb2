/** JSON objects that anybody may have written: each field is checked when it is read. */
import { located, StardustError } from '../error.ts';
import { fromHex } from './bytes.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export function asObject(value: unknown): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new StardustError('TIP-25', 'not a JSON object');
  return value as JsonObject;
}

/** Returns what `read` makes of JSON. Fields that it does not look at are refused, not lost. */
export function readWhole<T>(json: unknown, read: (json: unknown) => T): T {
  const known = new Map<object, { seen: Set<string>; way: readonly string[] }>();
  const watch = (value: unknown, way: readonly string[]): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const { seen } = known.get(value) ?? { seen: new Set() };
    if (!Array.isArray(value)) known.set(value, { seen, way });
    // the parts of a frozen one cannot be proxies
    return new Proxy(Array.isArray(value) ? [...value] : { ...value }, {
      get(target, name: string) {
        seen.add(name);
        const part: unknown = (target as JsonObject)[name];
        return typeof part === 'object' ? watch(part, [...way, name]) : part;
      },
    });
  };
  const made = read(watch(json, []));
  for (const [value, { seen, way }] of known)
    for (const [name, part] of Object.entries(value))
      if (part !== undefined && !seen.has(name)) {
        const error = new StardustError('TIP-25', 'the format has no such field');
        const path = [...way, name.slice(0, 40)].reverse();
        for (const step of path) error.within(/^\d+$/.test(step) ? Number(step) : step);
        throw error;
      }
  return made;
}

export function text(object: JsonObject, field: string): string {
  const value = object[field];
  if (typeof value !== 'string') throw new StardustError('TIP-25', `"${field}" is no text`);
  return value;
}

/** Whether an optional field is left out, for which Go's decoder takes null too. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/** The bytes of `0x…`. Where there are none, the reference prints the empty text. */
export function bytes(object: JsonObject, field: string): Uint8Array {
  const hex = text(object, field);
  try {
    return hex === '' ? new Uint8Array() : fromHex(hex);
  } catch (error) {
    if (error instanceof SyntaxError) throw new StardustError('TIP-25', `"${field}" is not hex`);
    throw error;
  }
}

export function integer(object: JsonObject, field: string, max = 0xffffffff): number {
  const value = object[field];
  if (!Number.isInteger(value) || (value as number) < 0 || (value as number) > max)
    throw new StardustError('TIP-25', `"${field}" is no integer from 0 to ${max}`);
  return value as number;
}

export function flag(object: JsonObject, field: string): boolean {
  const value = object[field];
  if (typeof value !== 'boolean')
    throw new StardustError('TIP-25', `"${field}" is neither true nor false`);
  return value;
}

/** Reads a field, which may be absent. An error on the way gets the field's name. */
export function part<T>(object: JsonObject, field: string, read: (value: unknown) => T): T {
  try {
    return read(object[field]);
  } catch (error) {
    throw located(error, field);
  }
}

/** Reads each element. An error on the way gets the element's position. */
export function parts<T>(object: JsonObject, field: string, read: (value: unknown) => T): T[] {
  const values = array(object, field);
  let i = 0;
  try {
    const made: T[] = [];
    for (; i < values.length; i++) made.push(read(values[i]));
    return made;
  } catch (error) {
    throw located(located(error, i), field);
  }
}

/** An array, for which null stands when it is empty. */
export function array(object: JsonObject, field: string): readonly unknown[] {
  const value = object[field] ?? [];
  if (!Array.isArray(value)) throw new StardustError('TIP-25', `"${field}" is no list`);
  return value;
}
