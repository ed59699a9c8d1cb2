/**
 * The runtime folder: what `npm run serve` and the commands around it need, in JavaScript, with the
 * Worker built. It is laid out as the project is, so that every path is found where it is there.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { PROJECT } from '../../cli/lib/project.ts';
import { findProgram } from '../../cli/lib/runtime.js';
import { WRANGLER } from '../../cli/lib/wrangler/run-wrangler.ts';

const COPIED = [
  'migrations',
  '.npmrc',
  'package-lock.json',
  'wrangler.toml',
  'LICENSE',
  'cli/stardust-edge.js',
  // what npx calls: a package of package.json
  'tools/command',
];

/**
 * Fills the folder, which is empty. Removes it if that fails.
 *
 * @param worker folder of the built Worker, in the project
 */
export function makeRuntime(worker: string, folder: string): void {
  try {
    // a fresh checkout has no types of the bindings
    if (!existsSync(join(PROJECT, 'worker-configuration.d.ts')))
      execFileSync(
        process.execPath,
        ['--no-warnings', WRANGLER, 'types', '--strict-vars=false', 'worker-configuration.d.ts'],
        { cwd: PROJECT, stdio: ['ignore', 'ignore', 'inherit'] },
      );
    execFileSync(
      process.execPath,
      [findProgram('typescript', 'tsc')!, '-p', join(PROJECT, 'tools/build'), '--outDir', folder],
      { stdio: 'inherit' },
    );
    for (const name of COPIED) cpSync(join(PROJECT, name), join(folder, name), { recursive: true });
    cpSync(worker, join(folder, relative(PROJECT, worker)), { recursive: true });
    writeFileSync(join(folder, 'package.json'), describePackage());
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
}

/**
 * The project's own package.json, so that its lock file holds; with the one script that is there.
 */
function describePackage(): string {
  const own = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as {
    scripts: { serve: string };
  };
  const { serve } = own.scripts;
  return `${JSON.stringify({ ...own, scripts: { serve } }, undefined, 2)}\n`;
}
