/**
 * `stardust-edge reindex`: rebuilds the NFT index (docs/operations.md#what-each-alarm-means).
 */
import type { Command } from 'commander';
import {
  addOptions,
  environmentOf,
  exitWith,
  newCommand,
  persistToOption,
  type RemoteOptions,
  remoteOptions,
} from './lib/process/command.ts';
import { inEnvironment } from './lib/wrangler/run-wrangler.ts';
import { readWranglerConfig, WRANGLER_TOML } from './lib/wrangler/wrangler-config.ts';
import { reindexLocally, reindexRemotely } from './reindex/reindex.ts';

const ABOUT = `Writes the entries of all NFTs into KV again, as after somebody changed entries by
hand. Until all are there, D1 answers what KV cannot prove. The publisher notices by itself when
the namespace was emptied or exchanged.

Entries of a deployed index are written by the publisher of the deployed Worker, page by page.`;

export const reindexCommand = (): Command =>
  addOptions(newCommand('reindex', ABOUT), [
    persistToOption().conflicts('remote'),
    ...remoteOptions(),
  ]).action(
    exitWith(async (options: RemoteOptions) => {
      const env = environmentOf(options);
      const config = readWranglerConfig(WRANGLER_TOML, env);
      if (options.remote) {
        await reindexRemotely(config, inEnvironment(env));
        console.log('The deployed publisher writes all entries again, page by page.');
      } else await reindexLocally(options.persistTo, config);
      return 0;
    }),
  );
