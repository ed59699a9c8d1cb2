/**
 * Compares what a vector expects with the actual result, and says where they differ.
 */
import type { JsonObject } from '../../src/stardust/encoding/json-object.ts';

/** The first place where two JSON values differ, or undefined. */
export function firstDifference(actual: unknown, expected: unknown, path = ''): string | undefined {
  if (
    isContainer(actual) &&
    isContainer(expected) &&
    Array.isArray(actual) === Array.isArray(expected)
  ) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      const difference = firstDifference(
        actual[key],
        expected[key],
        path === '' ? key : `${path}.${key}`,
      );
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  if (Object.is(actual, expected)) return undefined;
  const place = path === '' ? '' : `${path}: `;
  return `${place}${inWords(actual)} where ${inWords(expected)} is expected`;
}

function isContainer(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null;
}

function inWords(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
