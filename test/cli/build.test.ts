/**
 * `npm run build -- --to DIR`: the folder serves a ledger without TypeScript and without the tools
 * of development.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { PROJECT } from '../../cli/lib/project.ts';
import { SNAPSHOT } from '../../cli/start/sample.ts';
import { runScript, temporaryFolder } from '../support/cli/script-process.ts';
import { launch } from '../support/edge/launch.ts';
import { readInfo } from '../support/edge/walk-network.ts';

const folder = temporaryFolder();
const runtime = join(folder, 'runtime');

/** Names of the packages that `npm ci --omit=dev` installs, by the lock file of the folder. */
function productionPackages(): string[] {
  const lock = JSON.parse(readFileSync(join(runtime, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; devOptional?: boolean }>;
  };
  return Object.entries(lock.packages)
    .filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional)
    .map(([path]) => path);
}

it('makes a folder that imports and serves', async () => {
  const { code, stderr } = await runScript('tools/build.ts', '--to', runtime);
  expect([code, stderr]).toEqual([0, '']);
  const files = readdirSync(runtime, { recursive: true, encoding: 'utf8' });
  expect(files.filter((name) => name.endsWith('.ts'))).toEqual([]);
  for (const path of productionPackages()) {
    const installed = join(PROJECT, path);
    // packages of other platforms are in the lock file, too
    if (!existsSync(installed) || existsSync(join(runtime, path))) continue;
    mkdirSync(dirname(join(runtime, path)), { recursive: true });
    symlinkSync(installed, join(runtime, path));
  }

  const state = join(folder, 'state');
  const run = (name: string, ...args: string[]) => [
    join(runtime, 'cli/stardust-edge.js'),
    name,
    ...['--persist-to', state],
    ...args,
  ];
  await promisify(execFile)(process.execPath, run('import', SNAPSHOT));
  const served = launch(process.execPath, run('serve', '--port', '0'));
  onTestFinished(() => void served.child.kill());
  const [, url] = await served.until(/^Serving .* at (http:.*)\/$/);
  expect((await readInfo(url!)).status.confirmedMilestone.index).toBe(17338);
  // as a build of other sources does, which an operator makes before the restart
  rmSync(join(runtime, 'dist'), { recursive: true });
  expect((await fetch(`${url}/`)).status).toBe(200);
});

it('refuses a folder that is in use', async () => {
  const { code, stderr } = await runScript('tools/build.ts', '--to', runtime);
  expect([code, stderr]).toEqual([1, `${runtime} is not empty: name a new folder by --to\n`]);
});
