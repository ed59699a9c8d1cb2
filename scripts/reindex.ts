/**
 * `npm run reindex -- [--persist-to DIR] [--remote]`: rebuilds the NFT index
 * (docs/operations.md#what-each-alarm-means).
 */
import { parseArgs } from 'node:util';
import { runMain, UsageError } from './lib/process/command-line.ts';
import { DEFAULT_PERSIST_TO } from './lib/wrangler/local-database.ts';
import { inEnvironment } from './lib/wrangler/run-wrangler.ts';
import { readWranglerConfig, WRANGLER_TOML } from './lib/wrangler/wrangler-config.ts';
import { reindexLocally, reindexRemotely } from './reindex/reindex.ts';

const USAGE = `Usage: npm run reindex -- [--persist-to DIR] [--remote [--env NAME]]

Writes the entries of all NFTs into KV again, as after somebody changed entries by hand. Until
all are there, D1 answers what KV cannot prove. The publisher notices by itself when the namespace
was emptied or exchanged.

  --persist-to DIR   local data, those of npm run serve -- --persist-to DIR and of wrangler dev
                     --persist-to DIR; default .wrangler/state
  --remote           the deployed Worker's index: its publisher puts the entries, page by page
  --env NAME         that of [env.NAME] in wrangler.toml: staging`;

await runMain(USAGE, async (args) => {
  const { values } = parseArgs({
    args,
    options: {
      'persist-to': { type: 'string' },
      remote: { type: 'boolean', default: false },
      env: { type: 'string', default: '' },
    },
  });
  const { 'persist-to': persistTo, remote, env } = values;
  if (remote && persistTo !== undefined) throw new UsageError('--persist-to is for local data');
  if (!remote && env !== '') throw new UsageError('--env is for --remote');
  const config = readWranglerConfig(WRANGLER_TOML, env);
  if (remote) {
    await reindexRemotely(config, inEnvironment(env));
    console.log('The deployed publisher writes all entries again, page by page.');
  } else {
    await reindexLocally(persistTo ?? DEFAULT_PERSIST_TO, config);
    console.log('All entries were written.');
  }
  return 0;
});
