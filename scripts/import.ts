/**
 * `npm run import -- --full FILE [--delta FILE] [--persist-to DIR] [--remote]`: loads a snapshot (design §5, §6).
 *
 * Interrupted, it goes on where it was when it is called again with the same files. The ledger that was there stays until the new one is whole.
 */
import { parseArgs } from 'node:util';
import { importLocally } from './lib/import-locally.ts';
import { importRemotely } from './lib/import-remotely.ts';
import type { ImportRequest } from './lib/import-snapshot.ts';
import { DEFAULT_PERSIST_TO } from './lib/local-database.ts';
import { parseMilestoneKeys } from './lib/milestone-keys.ts';
import { readWranglerConfig, type WranglerConfig } from './lib/wrangler-config.ts';

const USAGE = `Usage: npm run import -- --full FILE [--delta FILE] [--persist-to DIR] [--remote]
  --persist-to DIR               local databases, those of wrangler dev --persist-to DIR; default .wrangler/state
  --remote                       load into the deployed databases
  --milestone-public-keys KEYS   check who signed the delta's milestones; as MILESTONE_PUBLIC_KEYS, which is the default
  --milestone-threshold N        as MILESTONE_THRESHOLD, which is the default`;

/** Called in a way that cannot be meant. */
class UsageError extends Error {}

function readArguments(
  config: WranglerConfig,
): ImportRequest & { remote: boolean; persistTo: string } {
  const values = parseOptions();
  if (values.full === undefined) throw new UsageError('--full is missing');
  if (values.remote && values['persist-to'] !== undefined)
    throw new UsageError('--persist-to is for local databases');
  const keys = parseMilestoneKeys(
    values['milestone-public-keys'] ?? config.vars.MILESTONE_PUBLIC_KEYS,
    values['milestone-threshold'] ?? config.vars.MILESTONE_THRESHOLD,
  );
  const { full, delta, remote, 'persist-to': persistTo = DEFAULT_PERSIST_TO } = values;
  return { full, delta, keys, remote, persistTo };
}

function parseOptions() {
  try {
    return parseArgs({
      options: {
        full: { type: 'string' },
        delta: { type: 'string' },
        'persist-to': { type: 'string' },
        remote: { type: 'boolean', default: false },
        'milestone-public-keys': { type: 'string' },
        'milestone-threshold': { type: 'string' },
      },
    }).values;
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

try {
  const config = readWranglerConfig();
  const { remote, persistTo, ...request } = readArguments(config);
  if (remote) await importRemotely(request, config);
  else await importLocally(request, persistTo, config);
} catch (error) {
  console.error(messageOf(error));
  if (error instanceof UsageError) console.error(USAGE);
  process.exitCode = 1;
}
