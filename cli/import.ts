/**
 * `stardust-edge import FILE`: imports a snapshot (docs/operations.md#import-a-snapshot).
 */
import type { Command } from 'commander';
import { importLocally } from './import/import-locally.ts';
import { askToReplace, replaceAny } from './lib/import/check-replacement.ts';
import { importRemotely } from './lib/import/import-remotely.ts';
import { readIndexSettings } from './lib/import/index-settings.ts';
import { chooseMilestoneKeys } from './lib/import/milestone-keys.ts';
import { findFinalNetwork } from './lib/network.ts';
import {
  addOptions,
  environmentOf,
  exitWith,
  type NetworkOptions,
  networkOptions,
  networkSettings,
  newCommand,
  persistToOption,
  type RemoteOptions,
  remoteOptions,
  renamedOption,
} from './lib/process/command.ts';
import { openSnapshotFile } from './lib/snapshot-file.ts';
import { readDevVars } from './lib/wrangler/read-vars.ts';
import { inEnvironment } from './lib/wrangler/run-wrangler.ts';
import { readWranglerConfig, WRANGLER_TOML } from './lib/wrangler/wrangler-config.ts';

const ABOUT = `Imports a snapshot as HORNET writes them. The ledger that was there stays until the
new one is whole. An import that was interrupted goes on when it is called again with the same
files. It asks before it replaces a newer ledger, or one of another network; without a terminal it
fails instead.

Signatures of the milestones in the files are checked by the keys of --network or --keys, else by
MILESTONE_PUBLIC_KEYS and MILESTONE_THRESHOLD of the environment, else of .dev.vars (not with
--remote), else of [vars] of wrangler.toml. Without keys no signature is checked. With --network
iota-final a file with another SHA-256 than the published one is refused.

INDEX and FINAL_MILESTONE come from there too, the latter also from --network iota-final: where they
want every kind of output in lists, an import into local databases fills that index. A deployed
follower fills it by itself.`;

interface Options extends RemoteOptions, NetworkOptions {
  delta?: string;
  older?: boolean;
}

export const importCommand = (): Command =>
  addOptions(
    newCommand('import', ABOUT)
      .argument('<FILE>', 'the full snapshot')
      .option('--delta <FILE>', 'the delta snapshot that was written after it'),
    [
      ...networkOptions(),
      persistToOption().conflicts('remote'),
      ...remoteOptions(),
      renamedOption('--full <FILE>', 'an argument: import FILE'),
    ],
  )
    .option('--older', "replace a newer ledger, or another network's, without a question")
    .action(exitWith(importFiles));

async function importFiles(full: string, options: Options): Promise<number> {
  const { delta, network, persistTo, remote = false, older = false } = options;
  const environment = environmentOf(options);
  const final = findFinalNetwork(network, delta);
  const config = readWranglerConfig(WRANGLER_TOML, environment);
  const devVars = remote ? {} : readDevVars();
  const sources = [networkSettings(options), process.env, devVars, config.vars] as const;
  const keys = chooseMilestoneKeys(...sources);
  // before a folder is made
  for (const path of [full, delta]) if (path !== undefined) openSnapshotFile(path);
  const mayReplace = older ? replaceAny : askToReplace;
  const request = { full, delta, keys, sha256: final?.sha256, network, mayReplace };
  if (remote) await importRemotely(request, config, inEnvironment(environment));
  else await importLocally(request, persistTo, config, readIndexSettings(...sources));
  return 0;
}
