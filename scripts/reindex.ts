/**
 * `npm run reindex -- [--persist-to DIR] [--remote]`: has all entries of the NFT index put into KV
 * once more, as after somebody changed or removed entries by hand.
 *
 * Until all are there, D1 answers what KV cannot prove; no answer is wrong meanwhile. A namespace
 * that was emptied or exchanged needs no command: the publisher notices by itself.
 */
import { parseArgs } from 'node:util';
import { DEFAULT_PERSIST_TO } from './lib/local-database.ts';
import { reindexLocally, reindexRemotely } from './lib/reindex.ts';
import { readWranglerConfig } from './lib/wrangler-config.ts';

const USAGE = `Usage: npm run reindex -- [--persist-to DIR] [--remote]
  --persist-to DIR   local data, that of wrangler dev --persist-to DIR; default .wrangler/state
  --remote           the deployed Worker's index: its publisher puts the entries, a page at a time
  --help             print this`;

try {
  const { values } = parseArgs({
    options: {
      'persist-to': { type: 'string' },
      remote: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const persistTo = values['persist-to'];
  if (values.help) {
    console.log(USAGE);
  } else if (values.remote && persistTo !== undefined) {
    throw new Error(`--persist-to is for local data\n${USAGE}`);
  } else if (values.remote) {
    await reindexRemotely(readWranglerConfig());
  } else {
    await reindexLocally(persistTo ?? DEFAULT_PERSIST_TO, readWranglerConfig());
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
