/**
 * `npm run build`: builds the Worker that `npm run serve` runs, ahead of its first start, a folder
 * that runs it without the tools of development (docs/operations.md#without-cloudflare), and the
 * package of the protocol (src/stardust/README.md).
 */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runMain } from '../cli/lib/process/command-line.ts';
import { PROJECT } from '../cli/lib/project.ts';
import { buildCore, builtWorker } from '../cli/lib/wrangler/build-worker.ts';
import { makeLibrary, measureLibrary } from './build/library.ts';
import { makeRuntime } from './build/runtime.ts';
import { describeSizes } from './build/sizes.ts';

const USAGE = `Usage: npm run build [-- --to DIR | --library DIR | --core]

Bundles the Worker as it is deployed, into dist/serve, for npm run serve, which also does so itself
if it may write there. Prints the folder. Does nothing if the sources did not change.

  --to DIR       makes a folder that has all that one machine needs, in JavaScript: the Worker, and
                 the command stardust-edge without start and deploy. There, npm ci --omit=dev
                 installs Node, miniflare and workerd
  --library DIR  makes the package of the protocol instead, for npm pack, and prints how many bytes
                 each of its subpaths adds to a bundle
  --core         builds the core alone, without modules (src/modules/README.md), into dist/core, and
                 prints the sizes of the core and of each module: of its sources and of the Worker

DIR must be new or empty.`;

/** Makes the folder that an option names. Throws an Error with a sentence if it is in use. */
function makeFolder(path: string, option: string): string {
  const folder = resolve(path);
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new Error(`${folder} is not empty: name a new folder by ${option}`);
  mkdirSync(folder, { recursive: true });
  return folder;
}

await runMain(USAGE, async (args) => {
  const { values } = parseArgs({
    args,
    options: { to: { type: 'string' }, library: { type: 'string' }, core: { type: 'boolean' } },
  });
  if (values.library !== undefined) {
    const folder = makeFolder(values.library, '--library');
    makeLibrary(folder);
    for (const { subpath, minified, gzipped } of await measureLibrary(folder))
      console.log(`${subpath.padEnd(36)} ${minified} bytes minified, ${gzipped} gzipped`);
    return 0;
  }
  if (values.core) {
    const folder = join(PROJECT, 'dist', 'core');
    mkdirSync(folder, { recursive: true });
    await buildCore(folder);
    console.log(folder);
    for (const line of describeSizes(folder, await builtWorker())) console.log(line);
    return 0;
  }
  const runtime = values.to === undefined ? undefined : makeFolder(values.to, '--to');
  const worker = await builtWorker();
  console.log(worker);
  if (runtime !== undefined) makeRuntime(worker, runtime);
  return 0;
});
