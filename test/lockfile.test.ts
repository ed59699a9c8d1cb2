/**
 * package-lock.json says all that `npm ci` installs, and nothing else is.
 *
 * `npm install` writes what packages demand of Node into it, by which npm judges the Node that npm
 * runs on. The packages run on the Node that package.json names. So after each `npm install`:
 *
 *   node tools/run.js vitest run test/lockfile.test.ts -u
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT } from '../cli/lib/project.ts';

const LOCKFILE = join(PROJECT, 'package-lock.json');

interface Locked {
  version: string;
  integrity?: string;
  /** Where it comes from, if it is a folder of the project. */
  resolved?: string;
  optional?: boolean;
  os?: string | string[];
  engines?: { node?: string };
}

const lockfile = JSON.parse(readFileSync(LOCKFILE, 'utf8')) as {
  packages: Record<string, Locked>;
};
const { '': project, ...packages } = lockfile.packages;
const { optionalDependencies: runtimes } = project as unknown as {
  optionalDependencies: Record<string, string>;
};

/** npm leaves out an optional package that is for another Node: ours, where npm runs on it. */
const NOT_OURS = '<26 || >=27';

it('has the Node that everything runs on, unless npm runs on it, and no other demand of Node', async () => {
  const expected = structuredClone(lockfile);
  for (const [path, each] of Object.entries(expected.packages)) {
    if (path === '') continue;
    delete each.engines;
    if (path.replace('node_modules/', '') in runtimes) each.engines = { node: NOT_OURS };
  }
  await expect(`${JSON.stringify(expected, undefined, 2)}\n`).toMatchFileSnapshot(LOCKFILE);
});

it('has one version of Node, for every system', () => {
  expect([...new Set(Object.values(runtimes))]).toEqual([expect.stringMatching(/^26\.\d+\.\d+$/)]);
  expect(Object.keys(runtimes).map((name) => packages[`node_modules/${name}`]?.os)).toEqual(
    expect.arrayContaining(['darwin', 'linux', 'win32']),
  );
});

it('has the hash of what is installed on Linux', () => {
  const unhashed = Object.entries(packages).filter(
    ([path, { integrity, resolved }]) =>
      integrity === undefined &&
      !resolved?.startsWith('file:') &&
      !/darwin|win|android|musl/.test(path),
  );
  expect(unhashed).toEqual([]);
});

it('needs no package that runs code when it is installed', () => {
  expect(readFileSync(join(PROJECT, '.npmrc'), 'utf8')).toContain('\nignore-scripts=true\n');
});

it('has no package that CONTRIBUTING.md does not say the purpose of, and the other way round', () => {
  const contributing = readFileSync(join(PROJECT, 'CONTRIBUTING.md'), 'utf8');
  const [, section = ''] = contributing.split('## Packages\n');
  const rows = section
    .split('\n## ')[0]!
    .split('\n')
    .filter((line) => line.startsWith('- `'));
  const named = rows.flatMap((row) => row.split(': ')[0]!.match(/(?<=`)[^`,| ]+(?=`)/g) ?? []);
  const { dependencies, devDependencies } = project as unknown as Record<string, object>;
  const direct = Object.keys({ ...dependencies, ...devDependencies, ...runtimes });
  expect(named.toSorted()).toEqual(direct.toSorted());
});
