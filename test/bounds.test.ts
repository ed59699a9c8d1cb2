/** docs/bounds.md has the numbers of the constants that tools/bounds/rows.ts names, and no others. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT } from '../cli/lib/project.ts';
import { describeBounds } from '../tools/bounds/describe-bounds.ts';
import { readConstant } from '../tools/bounds/read-constant.ts';
import { SECTIONS } from '../tools/bounds/rows.ts';

it('is what `node tools/run.js tools/bounds.ts` writes', () => {
  expect(readFileSync(join(PROJECT, 'docs/bounds.md'), 'utf8')).toBe(describeBounds());
});

it('has each number from a constant, or in brackets', () => {
  const bounds = Object.values(SECTIONS).flatMap((rows) => rows.map(([bound]) => bound));
  expect(bounds.length).toBeGreaterThan(50);
  const plain = bounds.map((bound) => bound.replaceAll(/\{[^}]+\}|`[^`]+`|\([^)]+\)/g, ''));
  expect(plain.filter((bound) => /\d/.test(bound.replaceAll('D1', '')))).toEqual([]);
});

it.each([
  ['src/http/request.ts', 'MAX_BODY_BYTES', 64 * 1024],
  ['src/follower/bring/bring-blocks.ts', 'BRING_LIMITS.ofKnown', 3],
  ['src/modules/events/event-broker.ts', 'MAX_WAITING_BYTES', 2 ** 18],
  ['src/node/compute-white-flag.ts', 'MAX_CONE_BLOCKS', 200_000],
])('reads %s %s', (file, name, value) => {
  expect(readConstant(file, name)).toBe(value);
});

it.each(['NO_SUCH_BYTES', 'BRING_LIMITS', 'BRING_LIMITS.nothing'])('refuses %s', (name) => {
  expect(() => readConstant('src/follower/bring/bring-blocks.ts', name)).toThrow(Error);
});
