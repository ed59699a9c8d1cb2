/** What `npm test` leaves out (vitest.config.ts) is run by `npm run test:slow` (test/slow/run.ts). */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT } from '../cli/lib/project.ts';

const textOf = (file: string) => readFileSync(join(PROJECT, file), 'utf8');

const calls = textOf('test/slow/run.ts').matchAll(/vitest\(\s*'\w+',\s*'([^']+)'/g);
const run = [...calls].flatMap(([, paths]) => paths!.split(' '));

it('each test that npm test leaves out is a slow one by name', () => {
  const [, list] = /const SLOW_TESTS = ([^;]*);/.exec(textOf('vitest.config.ts'))!;
  const patterns = [...list!.matchAll(/'(test\/.*)'/g)].map(([, pattern]) => pattern!);
  const leftOut = globSync(patterns, { cwd: PROJECT });
  expect(leftOut.length).toBeGreaterThan(patterns.length);
  expect(leftOut.filter((file) => !run.some((path) => file.includes(path)))).toEqual([]);
});

it('each name of a slow test is of one that is there', () => {
  const files = globSync('test/**/*.test.ts', { cwd: PROJECT });
  expect(run.length).toBeGreaterThan(20);
  expect(run.filter((path) => !files.some((file) => file.startsWith(`test/${path}`)))).toEqual([]);
});

it('each slow test is one that its help names, and the other way round', () => {
  const text = textOf('test/slow/run.ts');
  const [, table] = /const TESTS[^{]*\{\n(.*?)^\};/ms.exec(text)!;
  const names = [...table!.matchAll(/^ {2}(?:async )?'?([a-z][a-z-]+)'?[:(]/gm)].map(
    ([, name]) => name,
  );
  const [, help] = /const USAGE = `(.*?)`/s.exec(text)!;
  const told = [...help!.matchAll(/^ {2}([a-z][a-z-]+) +\d+ min /gm)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(30);
  expect(told.toSorted()).toEqual(names.toSorted());
});

it('each test that is larger there is one of them', () => {
  const files = globSync('test/**/*.test.ts', { cwd: PROJECT });
  const larger = files.filter((file) => /process\.env\.SLOW\b/.test(textOf(file)));
  expect(larger.length).toBeGreaterThan(3);
  expect(larger.filter((file) => !run.some((path) => file.includes(path)))).toEqual([]);
});
