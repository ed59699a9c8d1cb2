/**
 * `npm run build`: builds the Worker that `npm run serve` runs, ahead of its first start, and a
 * folder that runs it without the tools of development (docs/operations.md#without-cloudflare).
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { makeRuntime } from './build/runtime.ts';
import { runMain } from './lib/process/command-line.ts';
import { builtWorker } from './lib/wrangler/build-worker.ts';

const USAGE = `Usage: npm run build [-- --to DIR]

Bundles the Worker as it is deployed, into dist/serve, for npm run serve, which also does so itself
if it may write there. Prints the folder. Does nothing if the sources did not change.

  --to DIR   makes a folder that has all that one machine needs, in JavaScript: the Worker, and the
             command stardust-edge without start and deploy. DIR must be new or empty. There,
             npm ci --omit=dev installs Node, miniflare and workerd`;

await runMain(USAGE, async (args) => {
  const { values } = parseArgs({ args, options: { to: { type: 'string' } } });
  const worker = await builtWorker();
  console.log(worker);
  if (values.to !== undefined) makeRuntime(worker, resolve(values.to));
  return 0;
});
