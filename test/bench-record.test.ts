/** docs/performance.md as `npm run bench -- --write` writes it (bench/tools/record.ts). */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Figure } from '../bench/case.ts';
import { type Kept, writeDocument } from '../bench/tools/record.ts';
import { PROJECT } from '../cli/lib/project.ts';
import { temporaryFolder } from './support/cli/script-process.ts';

const DOCUMENT = readFileSync(join(PROJECT, 'docs/performance.md'), 'utf8');

const of = (day: string, ...figures: Figure[]) => ({ day, figures });
const kept: Kept = {
  commit: '0123456789ab',
  machine: 'one core',
  cases: {
    aimed: of(
      '2026-11-25',
      { name: 'aimed, late', value: 12.34, unit: 'ms', target: { most: 10 } },
      { name: 'fast', value: 1234.5, unit: 'a second', target: { least: 1000 } },
      { name: 'beside', value: 1, unit: '' },
    ),
    free: of('2026-11-26', { name: 'a|b', value: 5, unit: '' }),
  },
};

it('has the figures of one commit, and none of before', () => {
  const path = join(temporaryFolder(), 'document');
  writeFileSync(path, DOCUMENT);
  // not before all were measured
  expect(writeDocument(kept, ['aimed', 'free', 'other'], path)).toEqual(['other']);
  expect(readFileSync(path, 'utf8')).toBe(DOCUMENT);
  for (let times = 0; times < 2; times++)
    expect(writeDocument(kept, ['aimed', 'free'], path)).toEqual([]);
  const text = readFileSync(path, 'utf8');
  const framed = text.slice(text.indexOf('<!-- measured: `'), text.indexOf('<!-- measured: end'));
  expect(framed.trim().split('\n').slice(1)).toEqual([
    '',
    'Commit 0123456789ab, 2026-11-25 to 2026-11-26, one core. Target in brackets, **bold** where it is missed.',
    '',
    '- `aimed`: late **12.3 ms** (≤ 10); 1 more holds',
  ]);
  const outside = (all: string) => [
    all.slice(0, all.indexOf('<!-- measured: `')),
    all.slice(all.indexOf('<!-- measured: end')),
  ];
  expect(outside(text)).toEqual(outside(DOCUMENT));
});
