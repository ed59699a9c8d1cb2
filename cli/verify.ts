/**
 * `stardust-edge verify URL`: checks what an edge node says of its newest milestone against the
 * keys that sign milestones, or of a final ledger against its root; the smoke test after a
 * deployment. With `--nft`, what several nodes say of an NFT.
 */
import { createReadStream, existsSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { NotVerified, openNodeClient } from '../client/node-client.ts';
import { printable } from '../client/printable.ts';
import { proveFinalRecords } from '../client/verify-final.ts';
import { describeAsked, describeNft, verifyNft } from '../client/verify-nft.ts';
import { verifyNode } from '../client/verify-node.ts';
import { reportStatement } from '../client/verify-statement.ts';
import { describeVerdict } from '../client/words/proved.ts';
import { verifySignature } from '../src/platform/verify-signature.ts';
import { parseBoundedJson } from '../src/stardust/encoding/bounded-json.ts';
import { fromHex } from '../src/stardust/encoding/bytes.ts';
import type { MilestoneKeys } from '../src/stardust/milestone.ts';
import { type Proved, provedValue, treeOfId } from '../src/stardust/provenance/provenance.ts';
import { type Guarantee, Refuted, Unproven } from '../src/stardust/verifier.ts';
import { parseMilestoneKeys } from './lib/import/milestone-keys.ts';
import { findNetworkName } from './lib/network.ts';
import {
  addOptions,
  exitWith,
  isNodeUrl,
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

With --nft it asks all of several nodes about an NFT, and checks their certificates
(docs/contract.md#what-several-certificates-prove). One of them that is honest and current, and has
the certificate, refutes all others. A network that is not known by --network also needs
--network-name.

Exit code 0 if everything was proved, 1 if anything is false or could not be checked, 2 if the
command line is not valid.`;

/** A sentence with two IDs is not cut. */
const MAX_LINE = 500;

/** A page of a statement has up to 6 MB; it may be indented. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** What each of several nodes says is not cut. */
const MAX_NODES_LINE = 5000;

export const verifyCommand = (): Command =>
  addOptions(
    newCommand('verify', ABOUT)
      .argument('<URL>', 'of an edge node; a user name and a password may stand in it; or a FILE')
      .argument(
        '[MORE...]',
        'with --nft: URLs of further nodes; with --final-root alone: IDs of outputs and NFTs, ' +
          'whether the ledger has them or not; or further FILES',
      ),
    networkOptions(),
  )
    .option('--nft <ID>', 'who or what holds an NFT')
    .option(
      '--network-name <NAME>',
      'with --nft: of a network that --network does not know by name',
    )
    .option('--max-age <SECONDS>', "with --nft: how old a node's newest milestone may be", '30')
    .option('--agree <N>', 'with --nft: how many current nodes must agree, 2 or more', '2')
    .addOption(
      new Option('--at-least <GUARANTEE>', 'with --nft: what must be shown')
        .choices(['final', 'unrefuted', 'created'])
        .default('unrefuted'),
    )
    .option(
      '--final-root <ROOT>',
      'the final root from a source that you trust, not from this node',
    )
    .action(exitWith(verify));

interface VerifyOptions extends NetworkOptions {
  finalRoot?: string;
  nft?: string;
  networkName?: string;
  maxAge: string;
  agree: string;
  atLeast: Guarantee;
}

async function verify(
  url: string,
  more: readonly string[],
  options: VerifyOptions,
  command: Command,
): Promise<number> {
  const isFile = !isNodeUrl(url) && existsSync(url);
  // a text that is none may still have a password in it
  if (!isNodeUrl(url) && !isFile)
    throw new UsageError('the first argument is no URL of http or https, nor a file');
  const { finalRoot, network, keys: keysGiven, threshold, nft } = options;
  if (finalRoot !== undefined && !/^0x[0-9a-fA-F]{64}$/.test(finalRoot))
    throw new UsageError('--final-root must be 0x and 64 hex digits');
  if (isFile && (finalRoot === undefined || nft !== undefined))
    throw new UsageError('a file needs --final-root, and is not for --nft');
  // an error about a file would repeat a password
  if (isFile && more.some(isNodeUrl)) throw new UsageError('a URL does not follow a file');
  if (nft !== undefined) return verifyNftOf([url, ...more], nft, options);
  const other = command.options.find(
    (each) =>
      each.description.startsWith('with --nft') &&
      command.getOptionValueSource(each.attributeName()) === 'cli',
  );
  if (other !== undefined) throw new UsageError(`${other.long} is for --nft`);
  if (finalRoot !== undefined) {
    if ((network ?? keysGiven ?? threshold) !== undefined)
      throw new UsageError('--network, --keys and --threshold are not for --final-root');
    if (isFile) return verifyFiles([url, ...more], fromHex(finalRoot));
    // it may be a URL with a password
    const strange = more.findIndex((id) => treeOfId(id) === undefined);
    if (strange >= 0)
      throw new UsageError(`argument ${strange + 2} is neither an output ID nor an NFT ID`);
    return judge(async () => {
      for await (const sentence of proveFinalRecords(openNodeClient(url), fromHex(finalRoot), more))
        print(sentence);
    });
  }
  if (more.length > 0) throw new UsageError('one URL must be given');
  const keys = readKeys(options);
  const whose = whoseKeys(options);
  return judge(async () => {
    const now = () => Date.now() / 1000;
    const trust = { whose, keys, verify: verifySignature };
    const listener = { onProved: print, now };
    const proof = await verifyNode(openNodeClient(url), trust, Math.random(), listener);
    console.log(describeVerdict(proof, now()));
  });
}

/** Pages of the statement of an address, in order. */
async function verifyFiles(files: readonly string[], root: Uint8Array): Promise<number> {
  return judge(async () => {
    const pages: unknown[] = [];
    for (const file of files) pages.push(await readStatementFile(file));
    const { headline, notShown, sums, outputs, limits } = reportStatement(pages, root);
    print(headline);
    console.log(notShown);
    for (const sentence of sums) print(sentence);
    for (const { title, sentences } of outputs) {
      console.log('');
      print(title, ':');
      for (const sentence of sentences) print(sentence, '', '  ');
    }
    console.log('\nNot proved:');
    for (const sentence of limits) console.log(printable(sentence, MAX_LINE));
  });
}

async function readStatementFile(file: string): Promise<unknown> {
  try {
    const chunks: Buffer[] = [];
    let length = 0;
    // a device has no size, and may have no end
    for await (const chunk of createReadStream(file)) {
      length += chunk.length;
      if (length > MAX_FILE_BYTES) throw new Error('it is larger than a page of a statement');
      chunks.push(chunk);
    }
    return parseBoundedJson(Buffer.concat(chunks).toString());
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

function readKeys(options: NetworkOptions): MilestoneKeys {
  const { MILESTONE_PUBLIC_KEYS, MILESTONE_THRESHOLD } = resolveSigners(options);
  if (MILESTONE_PUBLIC_KEYS === undefined)
    throw new UsageError('--network or --keys must be given, or --final-root');
  const names = { publicKeys: '--keys', threshold: '--threshold' };
  // no option is empty
  return parseMilestoneKeys(MILESTONE_PUBLIC_KEYS, MILESTONE_THRESHOLD, names)!;
}

const whoseKeys = ({ network }: NetworkOptions) =>
  network === undefined ? 'the keys that you gave' : `the keys of ${network}`;

async function verifyNftOf(
  urls: readonly string[],
  nftId: string,
  options: VerifyOptions,
): Promise<number> {
  const strange = urls.findIndex((each) => !isNodeUrl(each));
  if (strange >= 0) throw new UsageError(`URL ${strange + 1} is no URL`);
  const { finalRoot, maxAge, agree, atLeast } = options;
  if (!/^0x[0-9a-fA-F]{64}$/.test(nftId))
    throw new UsageError('--nft must be 0x and 64 hex digits');
  if (!/^\d+$/.test(maxAge + agree))
    throw new UsageError('--max-age and --agree are whole numbers');
  if (atLeast === 'final' && finalRoot === undefined)
    throw new UsageError('--at-least final needs --final-root');
  const networkName = options.networkName ?? findNetworkName(options.network);
  if (networkName === undefined) throw new UsageError('--network-name must be given');
  const verifier = {
    ...readKeys(options),
    nodes: urls,
    networkName,
    whose: whoseKeys(options),
    verify: verifySignature,
    ...(finalRoot !== undefined && { finalRoot: fromHex(finalRoot) }),
  };
  const query = { nodes: Number(agree), maxAgeSeconds: Number(maxAge), atLeast };
  return judge(async () => {
    const found = await verifyNft(verifier, nftId, query).catch((error: unknown) => {
      throw error instanceof RangeError ? new UsageError(error.message) : error;
    });
    for (const line of describeAsked(found.asked)) console.log(printable(line, MAX_LINE));
    console.log(printable(describeNft(found, Date.now() / 1000), MAX_LINE));
  });
}

function print(sentence: Proved<string>, end = '', indent = ''): void {
  console.log(indent + printable(provedValue(sentence), MAX_LINE) + end);
}

/** Prints what is false. Returns the exit code. */
async function judge(check: () => Promise<void>): Promise<number> {
  try {
    await check();
    return 0;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { message } = error as Error;
    if (error instanceof NotVerified || error instanceof Refuted) {
      console.log(printable(`False: ${message}.`, MAX_LINE));
      if (error instanceof Refuted) printWitnesses(error);
    } else
      console.error(
        printable(`Not checked: ${message}`, error instanceof Unproven ? MAX_NODES_LINE : MAX_LINE),
      );
    return 1;
  }
}

/** How each node stands, and both certificates, so that anybody can check who did not tell the truth. */
function printWitnesses({ asked, refuted, by }: Refuted): void {
  for (const line of describeAsked(asked)) console.log(printable(line, MAX_LINE));
  for (const { node, certificate } of [refuted, by]) {
    // a node may have put any characters into fields that nobody reads
    const json = JSON.stringify(certificate).replaceAll(
      /[^ -~]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    console.log(`The certificate of ${printable(node, MAX_LINE)}:\n${json}`);
  }
}
