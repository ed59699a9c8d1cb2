/**
 * Each of the 124 cases (docs/protocol.md, H) is a test whose title begins with its number: in
 * catalogue/, or in the contract's table of requests (test/support/http/contract.ts) where the HTTP
 * layer decides.
 *
 * For H-116 to H-118 the contract is stricter than the reference: it answers 404 instead of 503,
 * and 400 where the reference pads and cuts IDs (docs/contract.md#white-flag).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const folder = join(import.meta.dirname, 'catalogue');

const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8');

/** The numbers of the cases that a text names where `pattern` matches, each once. */
function casesIn(text: string, pattern: RegExp): number[] {
  const matches = text.match(pattern)?.join(' ') ?? '';
  const numbers = Array.from(matches.matchAll(/H-(\d+)/g), ([, number]) => Number(number));
  return [...new Set(numbers)].sort((a, b) => a - b);
}

const catalogue = readdirSync(folder)
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => readFileSync(join(folder, name), 'utf8'))
  .join('');

describe('the catalogue', () => {
  it('has a test for every case', () => {
    const tested = [
      ...casesIn(catalogue, /\bit\('H-\d+ /g),
      ...casesIn(read('test/support/http/contract.ts'), /\basks\(\s*['`]H-\d+(, H-\d+)* /g),
    ];
    expect(tested.sort((a, b) => a - b)).toEqual(Array.from({ length: 124 }, (_, i) => i + 1));
  });
});
