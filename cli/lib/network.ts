/**
 * Networks by name: who signs their milestones, and of those that ended, their last ledger. Keys of
 * other networks are read from the configuration file of their HORNET nodes.
 */

import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { printable } from '../../client/printable.ts';
import { toHexDigits } from '../../src/stardust/encoding/bytes.ts';
import { findKnownNetwork } from '../../src/stardust/verifier/known-networks.ts';

/** In the form of the Worker's vars (docs/operations.md#settings). */
export interface Signers {
  MILESTONE_PUBLIC_KEYS: string;
  MILESTONE_THRESHOLD: string;
  /** JSON, where a configuration file names the network's token. */
  BASE_TOKEN?: string;
}

/** What HORNET takes where its configuration names a token without all of its fields. */
const HORNET_TOKEN = {
  ...{ name: 'IOTA', tickerSymbol: 'IOTA', unit: 'IOTA', subunit: 'micro' },
  ...{ decimals: 6, useMetricPrefix: false },
};

function signersOf(networkName: string): Signers {
  const { keys, threshold } = findKnownNetwork(networkName)!;
  return {
    MILESTONE_PUBLIC_KEYS: keys.map(({ publicKey }) => toHexDigits(publicKey)).join(),
    MILESTONE_THRESHOLD: String(threshold),
  };
}

/** A network that ended, and the file that has its last ledger. */
export interface FinalNetwork {
  /** As its transactions and its nodes have it. */
  networkName: string;
  /** Where the file was published. */
  url: string;
  /** 64 hex digits: of the file. */
  sha256: string;
  /** The index of the last milestone. */
  milestone: number;
  signers: Signers;
}

const FINAL_NETWORKS: Readonly<Record<string, FinalNetwork>> = {
  /**
   * IOTA mainnet as it was migrated to IOTA Rebased. URL: `fetch_blobs.sh`, SHA-256:
   * `latest-full_snapshot_17011901.bin.sha256` of commit 4b8955b in
   * https://github.com/iotaledger/mainnet-launch-ceremony.
   */
  'iota-final': {
    networkName: 'iota-mainnet',
    url: 'https://dbfiles.mainnet.iota.cafe/latest-full_snapshot_17011901.bin',
    sha256: '972e4dad12271fdc898a780078e6ab343bfaced5dba4457d51bdfbf9ac6cb47a',
    milestone: 17_011_901,
    signers: signersOf('iota-mainnet'),
  },
};

/**
 * Undefined if the name is of no network that is known to have ended. Throws an Error with a
 * sentence where a delta snapshot is given with one that has.
 */
export function findFinalNetwork(
  name: string | undefined,
  delta?: string | undefined,
): FinalNetwork | undefined {
  if (name === undefined || !Object.hasOwn(FINAL_NETWORKS, name)) return undefined;
  if (delta !== undefined) throw new Error(`--network ${name} is one file, without --delta`);
  return FINAL_NETWORKS[name];
}

/**
 * A range of HORNET's file; `end` 0: the key has no end. HORNET writes both `start` and `end` of
 * every range, so neither may be missing here.
 */
const keyRange = v.object({
  key: v.pipe(v.string(), v.regex(/^[0-9a-fA-F]{64}$/)),
  start: v.pipe(v.number(), v.integer()),
  end: v.pipe(v.number(), v.integer()),
});

const hornetConfig = v.object({
  protocol: v.object({
    milestonePublicKeyCount: v.pipe(v.number(), v.integer(), v.minValue(1)),
    publicKeyRanges: v.pipe(v.array(keyRange), v.minLength(1)),
    targetNetworkName: v.optional(v.string()),
    baseToken: v.optional(v.looseObject({})),
  }),
});

/**
 * @param name `shimmer`, `iota-final`, or the path of a configuration file as HORNET 2 reads it
 *
 * Throws an Error with a sentence where there is no such file or it names no keys.
 */
export function readSigners(name: string): Signers {
  if (name === 'shimmer') return signersOf(name);
  const final = findFinalNetwork(name);
  if (final !== undefined) return final.signers;
  const { protocol } = parseConfig(name);
  return {
    MILESTONE_PUBLIC_KEYS: protocol.publicKeyRanges
      .map(({ key, start, end }) => (start === 0 && end === 0 ? key : `${key}@${start}-${end}`))
      .join(),
    MILESTONE_THRESHOLD: String(protocol.milestonePublicKeyCount),
    ...(protocol.baseToken && {
      BASE_TOKEN: JSON.stringify({ ...HORNET_TOKEN, ...protocol.baseToken }),
    }),
  };
}

/**
 * The name that transactions of a network are for; undefined where neither a known name nor a
 * configuration file says it.
 */
export function findNetworkName(name: string | undefined): string | undefined {
  if (name === undefined || name === 'shimmer') return name;
  return findFinalNetwork(name)?.networkName ?? parseConfig(name).protocol.targetNetworkName;
}

/**
 * Throws an Error with a sentence where the ledger's network never had the name that `--network`
 * says: `targetNetworkName` of a configuration file. No names: the ledger's cannot be read.
 */
export function requireNetwork(network: string | undefined, names: readonly string[]): void {
  const expected = findNetworkName(network);
  if (expected === undefined || names.length === 0 || names.includes(expected)) return;
  throw new Error(
    `the ledger is of network ${printable(names.at(-1)!)}, but --network ${network} is of ${expected}: ` +
      'name the network of the ledger, or import a snapshot of the other one',
  );
}

function parseConfig(path: string): v.InferOutput<typeof hornetConfig> {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(`${path} is neither a known network nor a JSON file`, { cause: error });
  }
  const result = v.safeParse(hornetConfig, json);
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw new Error(`${path}: ${v.getDotPath(issue) ?? 'the file'}: ${issue.message}`);
}
