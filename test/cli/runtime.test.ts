/**
 * The Node that everything runs on is found by its package, in whichever Node and with whichever npm
 * it was installed: what `node_modules/.bin/node` is does not matter. `tools/install-matrix.ts` tries
 * this with real npms.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { PROJECT } from '../../cli/lib/project.ts';
import { findDependencyProgram, findProgram, findRuntime } from '../../cli/lib/runtime.js';
import packageJson from '../../package.json' with { type: 'json' };
import { temporaryFolder } from '../support/cli/script-process.ts';

const folder = temporaryFolder();

const VERSION = '27.1.2';
const LINUX = `node-${process.platform}-${process.arch}`;

/** A project that is made for a Node that no process here is, with packages in a folder. */
async function askIn(
  name: string,
  packages: Record<string, { os?: string; cpu?: string; bin: Record<string, string> }>,
  nested = '',
  program = '#!/bin/sh\n',
  mode = 0o755,
): Promise<string> {
  const root = join(folder, name);
  const project = join(root, nested);
  mkdirSync(join(project, 'cli/lib'), { recursive: true });
  cpSync(join(PROJECT, 'cli/lib/runtime.js'), join(project, 'cli/lib/runtime.js'));
  const optionalDependencies = { 'node-other': VERSION, [LINUX]: VERSION };
  const own = { type: 'module', optionalDependencies };
  writeFileSync(join(project, 'package.json'), JSON.stringify(own));
  for (const [each, description] of Object.entries(packages)) {
    const path = join(root, 'node_modules', each);
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'package.json'), JSON.stringify({ name: each, ...description }));
    mkdirSync(join(path, 'bin'), { recursive: true });
    writeFileSync(join(path, description.bin.node!), program, { mode });
  }
  const url = pathToFileURL(join(project, 'cli/lib/runtime.js')).href;
  const script = `console.log((await import('${url}')).findRuntime())`;
  const args = ['--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout.trim().replace(root, '');
}

const OWN = { os: process.platform, cpu: process.arch };

it('is the program that the package of this system names, and no other', async () => {
  const other = { os: 'none', bin: { node: 'bin/node' } };
  const own = { ...OWN, bin: { node: 'bin/node.exe' } };
  const packages = { 'node-other': other, [LINUX]: own };
  expect(await askIn('own', packages)).toBe(`/node_modules/${LINUX}/bin/node.exe`);
  const hoisted = { [LINUX]: { ...OWN, bin: { node: 'bin/node' } } };
  expect(await askIn('hoisted', hoisted, 'a/b')).toBe(`/node_modules/${LINUX}/bin/node`);
});

it('is found by files that Node 20.0 runs, too', () => {
  // from Node 20.11 on
  for (const name of ['cli/lib/runtime.js', 'cli/stardust-edge.js', 'tools/run.js'])
    expect(readFileSync(join(PROJECT, name), 'utf8')).not.toMatch(/import\.meta\.(file|dir)name\b/);
});

it('is asked for by a sentence where it is not installed', async () => {
  for (const packages of [{}, { [LINUX]: { os: 'none', bin: { node: 'bin/node' } } }])
    await expect(askIn('none', packages)).rejects.toThrow(
      /Node 27 for \S+ on \S+ is not installed in \S+, and this is v\d+\.\d+\.\d+: run npm ci /,
    );
});

it.each([
  ['on a disk mounted noexec', '#!/bin/sh\n', 0o644, /\(spawnSync .* EACCES\)/],
  ['of another C library', '#!/no/such/loader\n', 0o755, /\(spawnSync .* ENOENT\)/],
  ['that misses a library', '#!/bin/sh\necho no glibc >&2; exit 1\n', 0o755, /\(no glibc\)/],
  ['of another processor', '#!/bin/sh\nkill -ILL $$\n', 0o755, /\(SIGILL\)/],
])('one %s is named by a sentence', async (name, program, mode, reason) => {
  const packages = { [LINUX]: { ...OWN, bin: { node: 'bin/node' } } };
  const found = askIn(name, packages, '', program, mode);
  await expect(found).rejects.toThrow(/Error: \/.*bin\/node does not run on this machine/);
  await expect(found).rejects.toThrow(reason);
});

it('is what runs the tests, in the process and in PATH', () => {
  expect(findRuntime()).toBe(process.execPath);
  expect(findProgram('vitest', 'vitest')).toBe(join(PROJECT, 'node_modules/vitest/vitest.mjs'));
  expect(findProgram('no-such-package', 'node')).toBeUndefined();
});

it.each([
  ['vitest', 'vitest/vitest.mjs'],
  ['tsc', 'typescript/bin/tsc'],
  ['biome', '@biomejs/biome/bin/biome'],
  // its `bin` is a string
  ['yaml', 'yaml/bin.mjs'],
  ['typescript', undefined],
])('finds %s by the package that has it', (name, path) => {
  const expected = path && join(PROJECT, 'node_modules', path);
  expect(findDependencyProgram(name)).toBe(expected);
});

it('runs programs whose children find it too', async () => {
  const script = join(folder, 'child.mjs');
  writeFileSync(
    script,
    "console.log((await import('node:child_process')).execSync('node -p process.execPath') + '')",
  );
  const { stdout } = await promisify(execFile)(process.execPath, ['tools/run.js', script], {
    cwd: PROJECT,
    env: { ...process.env, PATH: '/usr/bin:/bin' },
  });
  expect(stdout.trim()).toBe(process.execPath);
});

it('runs programs that find those of the system where there is no PATH', async () => {
  const script = join(folder, 'shell.mjs');
  writeFileSync(script, "(await import('node:child_process')).execFileSync('sh', ['-c', 'true'])");
  const args = ['-i', process.execPath, 'tools/run.js', script];
  const run = promisify(execFile)('env', args, { cwd: PROJECT });
  await expect(run).resolves.toMatchObject({ stderr: '' });
});

it('passes on arguments and the exit code, and refuses what is no program', async () => {
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, ['tools/run.js', ...args], { cwd: PROJECT });
  const script = join(folder, 'exit.mjs');
  writeFileSync(script, 'console.log(process.argv.slice(2)); process.exitCode = 7');
  await expect(run(script, 'a', '--b')).rejects.toMatchObject({
    code: 7,
    stdout: "[ 'a', '--b' ]\n",
  });
  await expect(run('no-such-package')).rejects.toMatchObject({
    code: 2,
    stderr: 'no-such-package is no file, and no program of an installed dependency\n',
  });
});

it('is in PATH of the service, by each package for Linux', () => {
  const unit = readFileSync(join(PROJECT, 'systemd/stardust-edge-node@.service'), 'utf8');
  const [, path = ''] = /^ExecStart=\/usr\/bin\/env PATH=(\S+) node /m.exec(unit)!;
  const linux = Object.keys(packageJson.optionalDependencies).filter((name) =>
    name.includes('linux'),
  );
  expect(linux.length).toBeGreaterThan(1);
  expect(path.split(':').slice(0, linux.length).toSorted()).toEqual(
    linux.map((name) => `node_modules/${name}/bin`).toSorted(),
  );
});

/** Files that start programs, or say how. */
const FOLDERS = [
  '.github',
  'bench',
  'cli',
  'container',
  'docs',
  'explorer',
  'src',
  'systemd',
  'test',
  'tools',
];
const FILES = ['README.md', 'CONTRIBUTING.md', 'package.json', 'wrangler.toml', '.ci/run'];

it('is run by npx for any user: npx changes the mode of a bin of the folder itself', () => {
  expect(packageJson).not.toHaveProperty('bin');
  expect(packageJson.dependencies['stardust-edge']).toBe('file:tools/command');
});

it('is found by nothing through the link that npm may delete', () => {
  const files = FOLDERS.flatMap((each) =>
    readdirSync(join(PROJECT, each), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:ts|tsx|js|md|toml|yml|service|json)$|Dockerfile$/.test(name))
      .map((name) => join(each, name)),
  ).concat(FILES);
  expect(files.length).toBeGreaterThan(400);
  const byLink = /npx (?:-c '?|--no-install )?node\b|\.bin\/node\b|npx (?:vitest|knip)\b/;
  const own = 'test/cli/runtime.test.ts';
  const found = files.filter(
    (name) =>
      name !== own &&
      name !== 'cli/lib/runtime.js' &&
      byLink.test(readFileSync(join(PROJECT, name), 'utf8').replace(/\n[ *]*/g, ' ')),
  );
  expect(found).toEqual([]);
});
