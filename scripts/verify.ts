/**
 * `npm run verify -- URL`: checks what an edge node says of its newest milestone against the keys
 * that sign milestones, or of a final ledger against its root; the smoke test after a deployment.
 */
import { parseArgs } from 'node:util';
import { fromHex } from '../src/stardust/encoding/bytes.ts';
import { parseMilestoneKeys } from './lib/import/milestone-keys.ts';
import { openNodeClient } from './lib/node-client.ts';
import { runMain, UsageError } from './lib/process/command-line.ts';
import { treeOfId, verifyFinal } from './verify/verify-final.ts';
import { NotVerified, verifyNode } from './verify/verify-node.ts';

const USAGE = `Usage: npm run verify -- URL --keys KEYS [--threshold N]
       npm run verify -- URL --final-root ROOT [ID…]

Takes the node's newest milestone, its cone and the proof of a block that chance picks, through the
public routes, and checks everything against the keys. Exit code 1 if anything is not so.
With --final-root it checks which outputs and NFTs are in a final ledger (docs/final-ledger.md).

  URL               of an edge node; a user name and a password may stand in it
  --keys KEYS       public keys that sign milestones, hex, separated by commas
  --threshold N     how many of them must have signed; default: all
  --final-root ROOT the final root from a source that you trust, not from this node
  ID                of outputs and NFTs, whether the ledger has them or not`;

await runMain(USAGE, async (args) => {
  const text = { type: 'string' } as const;
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { keys: text, threshold: text, 'final-root': text },
  });
  const [url, ...ids] = positionals;
  const finalRoot = values['final-root'];
  if (url === undefined || URL.parse(url) === null) throw new UsageError('a URL must be given');
  if (finalRoot !== undefined) {
    if (values.keys !== undefined) throw new UsageError('--keys is not for --final-root');
    if (!/^0x[0-9a-fA-F]{64}$/.test(finalRoot))
      throw new UsageError('--final-root must be 0x and 64 hex digits');
    const strange = ids.find((id) => treeOfId(id) === undefined);
    if (strange !== undefined)
      throw new UsageError(`${strange} is neither an output ID nor an NFT ID`);
    return print(verifyFinal(openNodeClient(url), fromHex(finalRoot), ids));
  }
  if (ids.length > 0) throw new UsageError('one URL must be given');
  if (values.keys === undefined) throw new UsageError('--keys is missing');
  const threshold = values.threshold ?? String(values.keys.split(',').length);
  const names = { publicKeys: '--keys', threshold: '--threshold' };
  const keys = parseMilestoneKeys(values.keys, threshold, names);
  if (keys === undefined) throw new UsageError('--keys is empty');
  return print(verifyNode(openNodeClient(url), keys, Math.random()));
});

/** Prints what was found right. Returns the exit code. */
async function print(checks: AsyncIterable<string>): Promise<number> {
  try {
    for await (const found of checks) console.log(found);
    return 0;
  } catch (error) {
    if (!(error instanceof NotVerified)) throw error;
    console.log(`Not verified: ${error.message}.`);
    return 1;
  }
}
