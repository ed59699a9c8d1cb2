/**
 * `npm run verify -- URL`: checks what an edge node says of its newest milestone against the keys
 * that sign milestones, or of a final ledger against its root; the smoke test after a deployment.
 */
import { parseArgs } from 'node:util';
import { fromHex } from '../src/stardust/encoding/bytes.ts';
import {
  describeVerdict,
  type Proved,
  provedValue,
  treeOfId,
} from '../src/stardust/provenance/provenance.ts';
import { verifySignature } from '../src/verify-signature.ts';
import { parseMilestoneKeys } from './lib/import/milestone-keys.ts';
import { openNodeClient } from './lib/node-client.ts';
import { printable } from './lib/printable.ts';
import { runMain, UsageError } from './lib/process/command-line.ts';
import { verifyFinal } from './verify/verify-final.ts';
import { NotVerified, verifyNode } from './verify/verify-node.ts';

const USAGE = `Usage: npm run verify -- URL --keys KEYS [--threshold N]
       npm run verify -- URL --final-root ROOT [ID…]

Takes the node's newest milestone, its cone and the proof of a block that chance picks, through the
public routes, and checks everything against the keys. With --final-root it checks which outputs and
NFTs are in a final ledger (docs/final-ledger.md).

Exit code 0 if everything was proved, 1 if anything is false or could not be checked, 2 if the
command line is not valid.

  URL               of an edge node; a user name and a password may stand in it
  --keys KEYS       public keys that sign milestones, hex, separated by commas
  --threshold N     how many of them must have signed; default: all
  --final-root ROOT the final root from a source that you trust, not from this node
  ID                of outputs and NFTs, whether the ledger has them or not`;

/** A sentence with two IDs is not cut. */
const MAX_LINE = 500;

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
    return judge(async () => {
      for await (const sentence of verifyFinal(openNodeClient(url), fromHex(finalRoot), ids))
        print(sentence);
    });
  }
  if (ids.length > 0) throw new UsageError('one URL must be given');
  if (values.keys === undefined) throw new UsageError('--keys is missing');
  const threshold = values.threshold ?? String(values.keys.split(',').length);
  const names = { publicKeys: '--keys', threshold: '--threshold' };
  const keys = parseMilestoneKeys(values.keys, threshold, names);
  if (keys === undefined) throw new UsageError('--keys is empty');
  const trust = { whose: 'the keys that you gave', keys, verify: verifySignature };
  return judge(async () => {
    const now = () => Date.now() / 1000;
    const listener = { onProved: print, now };
    const proof = await verifyNode(openNodeClient(url), trust, Math.random(), listener);
    console.log(describeVerdict(provedValue(proof), now()));
  });
});

function print(sentence: Proved<string>): void {
  console.log(printable(provedValue(sentence), MAX_LINE));
}

/** Prints what is false. Returns the exit code. */
async function judge(check: () => Promise<void>): Promise<number> {
  try {
    await check();
    return 0;
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof NotVerified) console.log(printable(`False: ${message}.`, MAX_LINE));
    else console.error(printable(`Not checked: ${message}`, MAX_LINE));
    return 1;
  }
}
