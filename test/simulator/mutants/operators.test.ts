/**
 * Each mutation of a source is a program: one that is none would be killed by every seed.
 */
import { transformSync } from 'esbuild';
import { expect, it } from 'vitest';
import { mutationsOf } from './operators.ts';

const SOURCE = `
export const next = (state, from) => ({ ...state, from, ...(from > 1 && { from }), });
export function sum(numbers, log) {
  if (!log) numbers.sort(); else log('sum');
  return { ...numbers.filter((each) => each < 9), length: numbers.length.toString() };
}`;

const MUTANTS = mutationsOf('source.ts', SOURCE).map(({ operator, start, end, instead }) => ({
  operator,
  text: SOURCE.slice(0, start) + instead + SOURCE.slice(end),
}));

it('every mutant parses', () => {
  for (const { text } of MUTANTS) expect(() => transformSync(text), text).not.toThrow();
});

it('a property that is left out takes its comma with it', () => {
  const left = MUTANTS.filter(({ operator }) => operator === 'property').map(({ text }) => text);
  expect(left).toEqual([
    SOURCE.replace(', from,', ','),
    SOURCE.replace(', ...(from > 1 && { from })', ''),
    SOURCE.replace(', length: numbers.length.toString()', ''),
  ]);
});
