/**
 * `npm run import -- --full FILE …`: imports a snapshot (docs/operations.md#import-a-snapshot).
 *
 * npm runs it with `--max-semi-space-size=2`: an import allocates much that is short-lived, and
 * takes less memory if V8 collects young objects after every 2 MB.
 */
import { parseArgs } from 'node:util';
import { importLocally } from './import/import-locally.ts';
import { askToReplace, replaceAny } from './lib/import/check-replacement.ts';
import { importRemotely } from './lib/import/import-remotely.ts';
import type { ImportRequest } from './lib/import/import-snapshot.ts';
import { readIndexSettings } from './lib/import/index-settings.ts';
import { chooseMilestoneKeys } from './lib/import/milestone-keys.ts';
import { requireFinalNetwork } from './lib/network.ts';
import { runMain, UsageError } from './lib/process/command-line.ts';
import { DEFAULT_PERSIST_TO } from './lib/wrangler/local-database.ts';
import { readDevVars } from './lib/wrangler/read-vars.ts';
import { inEnvironment } from './lib/wrangler/run-wrangler.ts';
import {
  readWranglerConfig,
  WRANGLER_TOML,
  type WranglerConfig,
} from './lib/wrangler/wrangler-config.ts';

const USAGE = `Usage: npm run import -- --full FILE [--delta FILE] [--network iota-final] [--persist-to DIR]
                         [--older] [--remote [--env NAME]]

Imports a snapshot as HORNET writes them. The ledger that was there stays until the new one is
whole. An import that was interrupted goes on when it is called again with the same files. It asks
before it replaces a newer ledger, or one of another network; without a terminal it fails instead.

  --full FILE                    the full snapshot
  --delta FILE                   the delta snapshot that was written after it
  --network NAME                 the last ledger of a network that ended, with its keys: iota-final.
                                 A file with another SHA-256 than the published one is refused
  --persist-to DIR               local databases, those of npm run serve -- --persist-to DIR and
                                 of wrangler dev --persist-to DIR; default .wrangler/state
  --older                        replace a newer ledger, or another network's, without a question
  --remote                       import into the deployed databases
  --env NAME                     those of [env.NAME] in wrangler.toml: staging
  --milestone-public-keys KEYS   keys that must have signed the milestones in the files;
                                 default MILESTONE_PUBLIC_KEYS
  --milestone-threshold N        how many of them must have signed; default MILESTONE_THRESHOLD

MILESTONE_PUBLIC_KEYS and MILESTONE_THRESHOLD come from the environment, else from .dev.vars (not
with --remote), else from [vars] of wrangler.toml. Without keys no signature is checked.
INDEX and FINAL_MILESTONE come from there too: where they want every kind of output in lists, an
import into local databases fills that index. A deployed follower fills it by itself.`;

interface Arguments extends ImportRequest {
  remote: boolean;
  environment: string;
  persistTo: string;
  config: WranglerConfig;
}

function readArguments(args: string[]): Arguments {
  const { values } = parseArgs({
    args,
    options: {
      full: { type: 'string' },
      delta: { type: 'string' },
      network: { type: 'string' },
      'persist-to': { type: 'string' },
      older: { type: 'boolean', default: false },
      remote: { type: 'boolean', default: false },
      env: { type: 'string', default: '' },
      'milestone-public-keys': { type: 'string' },
      'milestone-threshold': { type: 'string' },
    },
  });
  if (values.full === undefined) throw new UsageError('--full is missing');
  if (values.remote && values['persist-to'] !== undefined)
    throw new UsageError('--persist-to is for local databases');
  if (!values.remote && values.env !== '') throw new UsageError('--env is for --remote');
  const final =
    values.network === undefined ? undefined : requireFinalNetwork(values.network, values.delta);
  const config = readWranglerConfig(WRANGLER_TOML, values.env);
  const { full, delta, remote, env, 'persist-to': persistTo = DEFAULT_PERSIST_TO } = values;
  const keys = chooseMilestoneKeys(
    { publicKeys: values['milestone-public-keys'], threshold: values['milestone-threshold'] },
    { ...final?.signers },
    process.env,
    remote ? {} : readDevVars(),
    config.vars,
  );
  const mayReplace = values.older ? replaceAny : askToReplace;
  const { sha256 } = final ?? {};
  return { full, delta, keys, sha256, mayReplace, remote, environment: env, persistTo, config };
}

await runMain(USAGE, async (args) => {
  const { remote, environment, persistTo, config, ...request } = readArguments(args);
  if (remote) await importRemotely(request, config, inEnvironment(environment));
  else {
    const settings = readIndexSettings(process.env, readDevVars(), config.vars);
    await importLocally(request, persistTo, config, settings);
  }
  return 0;
});
