/**
 * `npm run verify -- URL`: checks what an edge node says of its newest milestone against the keys
 * that sign milestones; the smoke test after a deployment.
 */
import { parseArgs } from 'node:util';
import { parseMilestoneKeys } from './lib/import/milestone-keys.ts';
import { openNodeClient } from './lib/node-client.ts';
import { runMain, UsageError } from './lib/process/command-line.ts';
import { NotVerified, verifyNode } from './verify/verify-node.ts';

const USAGE = `Usage: npm run verify -- URL --keys KEYS [--threshold N]

Takes the node's newest milestone, its cone and the proof of a block that chance picks, through the
public routes, and checks everything against the keys. Exit code 1 if anything is not so.

  URL             of an edge node; a user name and a password may stand in it
  --keys KEYS     public keys that sign milestones, hex, separated by commas
  --threshold N   how many of them must have signed; default: all`;

await runMain(USAGE, async (args) => {
  const text = { type: 'string' } as const;
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { keys: text, threshold: text },
  });
  const [url, ...others] = positionals;
  if (url === undefined || others.length > 0) throw new UsageError('one URL must be given');
  if (URL.parse(url) === null) throw new UsageError(`${url} is no URL`);
  if (values.keys === undefined) throw new UsageError('--keys is missing');
  const threshold = values.threshold ?? String(values.keys.split(',').length);
  const names = { publicKeys: '--keys', threshold: '--threshold' };
  const keys = parseMilestoneKeys(values.keys, threshold, names);
  if (keys === undefined) throw new UsageError('--keys is empty');
  try {
    for await (const found of verifyNode(openNodeClient(url), keys, Math.random()))
      console.log(found);
    return 0;
  } catch (error) {
    if (!(error instanceof NotVerified)) throw error;
    console.log(`Not verified: ${error.message}.`);
    return 1;
  }
});
