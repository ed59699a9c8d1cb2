/**
 * The planted mistakes still fit the code: each text is there exactly once, and is changed.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT } from '../../../cli/lib/project.ts';
import { PLANTS, REMOVED_CHECKS } from './plants.ts';

const ALL = [...PLANTS, ...REMOVED_CHECKS];

it('all planted mistakes fit the code', () => {
  const wrong = ALL.flatMap(({ name, changes }) =>
    changes.flatMap(({ file, text, instead }) => {
      const times = readFileSync(join(PROJECT, file), 'utf8').split(text).length - 1;
      if (times !== 1) return [`${name}: ${times} times in ${file}: ${text}`];
      return text === instead ? [`${name}: nothing is changed`] : [];
    }),
  );
  expect(wrong).toEqual([]);
  expect(new Set(ALL.map(({ name }) => name)).size).toBe(ALL.length);
});
