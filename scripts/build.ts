/**
 * `npm run build`: builds the Worker that `npm run serve` runs, ahead of its first start.
 */
import { parseArgs } from 'node:util';
import { runMain } from './lib/process/command-line.ts';
import { builtWorker } from './lib/wrangler/build-worker.ts';

const USAGE = `Usage: npm run build

Bundles the Worker as it is deployed, into dist/serve, for npm run serve. That one does so by itself
where it may write there. Prints the folder; there is nothing to do if the sources did not change.`;

await runMain(USAGE, async (args) => {
  parseArgs({ args, options: {} });
  console.log(await builtWorker());
  return 0;
});
