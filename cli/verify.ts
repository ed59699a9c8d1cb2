/**
 * `stardust-edge verify URL`: checks what an edge node says of its newest milestone against the
 * keys that sign milestones, or of a final ledger against its root; the smoke test after a
 * deployment.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import type { Command } from 'commander';
import { parseBoundedJson } from '../src/stardust/encoding/bounded-json.ts';
import { fromHex } from '../src/stardust/encoding/bytes.ts';
import {
  describeVerdict,
  type Proved,
  provedValue,
  treeOfId,
} from '../src/stardust/provenance/provenance.ts';
import { verifySignature } from '../src/verify-signature.ts';
import { openNodeClient } from '../verifier/node-client.ts';
import { printable } from '../verifier/printable.ts';
import { proveFinalRecords, reportStatement } from '../verifier/verify-final.ts';
import { NotVerified, verifyNode } from '../verifier/verify-node.ts';
import { parseMilestoneKeys } from './lib/import/milestone-keys.ts';
import {
  addOptions,
  exitWith,
  type NetworkOptions,
  networkOptions,
  newCommand,
  resolveSigners,
} from './lib/process/command.ts';
import { UsageError } from './lib/process/command-line.ts';

const ABOUT = `Takes the newest milestone that the node names, its cone and the proof of a block
that chance picks, through the public routes, and checks them against the keys. Not checked: NFTs,
outputs and owners, and whether there is a newer milestone. With --final-root it checks which
outputs and NFTs are in a final ledger (docs/final-ledger.md), and what they hold. Given files with
the statement of an address instead of a URL, it checks them without a node.

Exit code 0 if everything was proved, 1 if anything is false or could not be checked, 2 if the
command line is not valid.`;

/** A sentence with two IDs is not cut. */
const MAX_LINE = 500;

/** A page of a statement has up to 6 MB; it may be indented. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

export const verifyCommand = (): Command =>
  addOptions(
    newCommand('verify', ABOUT)
      .argument('<URL>', 'of an edge node; a user name and a password may stand in it; or a FILE')
      .argument(
        '[ID...]',
        'with --final-root: outputs and NFTs, whether the ledger has them or not; or more FILES',
      ),
    networkOptions(),
  )
    .option(
      '--final-root <ROOT>',
      'the final root from a source that you trust, not from this node',
    )
    .action(exitWith(verify));

async function verify(
  url: string,
  ids: readonly string[],
  options: NetworkOptions & { finalRoot?: string },
): Promise<number> {
  if (options.finalRoot !== undefined && existsSync(url))
    return verifyFiles([url, ...ids], options.finalRoot);
  if (URL.parse(url) === null) throw new UsageError(`${url} is no URL`);
  const { finalRoot, network, keys: keysGiven } = options;
  if (finalRoot !== undefined) {
    if ((network ?? keysGiven) !== undefined)
      throw new UsageError('--network and --keys are not for --final-root');
    if (!/^0x[0-9a-fA-F]{64}$/.test(finalRoot))
      throw new UsageError('--final-root must be 0x and 64 hex digits');
    const strange = ids.find((id) => treeOfId(id) === undefined);
    if (strange !== undefined)
      throw new UsageError(`${strange} is neither an output ID nor an NFT ID`);
    return judge(async () => {
      for await (const sentence of proveFinalRecords(openNodeClient(url), fromHex(finalRoot), ids))
        print(sentence);
    });
  }
  if (ids.length > 0) throw new UsageError('one URL must be given');
  const { MILESTONE_PUBLIC_KEYS, MILESTONE_THRESHOLD } = resolveSigners(options);
  if (MILESTONE_PUBLIC_KEYS === undefined)
    throw new UsageError('--network or --keys must be given, or --final-root');
  const names = { publicKeys: '--keys', threshold: '--threshold' };
  const keys = parseMilestoneKeys(MILESTONE_PUBLIC_KEYS, MILESTONE_THRESHOLD, names);
  if (keys === undefined) throw new UsageError('--keys is empty');
  const whose = network === undefined ? 'the keys that you gave' : `the keys of ${network}`;
  return judge(async () => {
    const now = () => Date.now() / 1000;
    const trust = { whose, keys, verify: verifySignature };
    const listener = { onProved: print, now };
    const proof = await verifyNode(openNodeClient(url), trust, Math.random(), listener);
    console.log(describeVerdict(provedValue(proof), now()));
  });
}

/** Pages of the statement of an address, in order. */
async function verifyFiles(files: readonly string[], finalRoot: string): Promise<number> {
  if (!/^0x[0-9a-fA-F]{64}$/.test(finalRoot))
    throw new UsageError('--final-root must be 0x and 64 hex digits');
  return judge(async () => {
    const pages = files.map(readStatementFile);
    const { proved, open } = reportStatement(pages, fromHex(finalRoot));
    for (const sentence of proved) print(sentence);
    console.log('\nNot proved:');
    for (const sentence of open) console.log(printable(sentence, MAX_LINE));
  });
}

function readStatementFile(file: string): unknown {
  const { size } = statSync(file);
  if (size > MAX_FILE_BYTES) throw new Error(`${file} is larger than a page of a statement`);
  try {
    return parseBoundedJson(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

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
