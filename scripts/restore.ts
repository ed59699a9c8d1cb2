/**
 * `npm run restore -- --persist-to DIR FILE`: makes a data folder of a back-up
 * (docs/operations.md#restore).
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { restore } from './backup/restore.ts';
import { runMain, UsageError } from './lib/process/command-line.ts';
import { readWranglerConfig } from './lib/wrangler/wrangler-config.ts';

const USAGE = `Usage: npm run restore -- --persist-to DIR FILE

Makes a data folder of the back-up FILE, which npm run backup wrote. The folder must be new or
empty. Interrupted, it can be called again.

  --persist-to DIR   the new data folder`;

await runMain(USAGE, async (args) => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { 'persist-to': { type: 'string' } },
  });
  const [file] = positionals;
  const { 'persist-to': persistTo } = values;
  if (file === undefined || positionals.length > 1) throw new UsageError('one FILE is needed');
  if (persistTo === undefined) throw new UsageError('--persist-to is missing');
  await restore(resolve(file), resolve(persistTo), readWranglerConfig());
  return 0;
});
