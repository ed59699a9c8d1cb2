/**
 * `npm run backup -- [--persist-to DIR] FILE`: saves the ledger of `npm run serve`, also while it
 * serves (docs/operations.md#back-up).
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { backUp } from './backup/back-up.ts';
import { runMain, UsageError } from './lib/process/command-line.ts';
import { DEFAULT_PERSIST_TO } from './lib/wrangler/local-database.ts';
import { readWranglerConfig } from './lib/wrangler/wrangler-config.ts';

const USAGE = `Usage: npm run backup -- [--persist-to DIR] FILE

Saves the ledger of a data folder into FILE, which must not exist: all of one moment, also while
npm run serve runs. FILE is complete or is not there. npm run restore makes a data folder of it.

  --persist-to DIR   the data folder; default .wrangler/state`;

await runMain(USAGE, async (args) => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { 'persist-to': { type: 'string', default: DEFAULT_PERSIST_TO } },
  });
  const [file] = positionals;
  if (file === undefined || positionals.length > 1) throw new UsageError('one FILE is needed');
  await backUp(resolve(values['persist-to']), resolve(file), readWranglerConfig());
  return 0;
});
