/**
 * Networks by name: who signs their milestones, and of those that ended, their last ledger. Keys of
 * other networks are read from the configuration file of their HORNET nodes.
 */
import { readFileSync } from 'node:fs';
import * as v from 'valibot';

/** In the form of the Worker's vars (docs/operations.md#settings). */
export interface Signers {
  MILESTONE_PUBLIC_KEYS: string;
  MILESTONE_THRESHOLD: string;
}

/**
 * Ten keys, seven of which sign a milestone, none with a range: `protocol.publicKeyRanges` and
 * `milestonePublicKeyCount` of
 * https://github.com/iotaledger/hornet/blob/v2.0.1/config_shimmer.json
 */
const SHIMMER: Signers = {
  MILESTONE_PUBLIC_KEYS: [
    'a507d2a592a5f0424ed8530603c08acebe088ae26211e90b79bfec0970a2397f',
    '71a09774449a081450a51e0245a1e9850190f93508fd8f21bb9b9ca169765f30',
    'a375515bfe5adf7fedb64ef4cebe1e621e85a056b0ccd5db72bc0d474325bf38',
    '1df26178a7914126fd8cb934c7a7437073794c1c8ce99319172436b1d4973eba',
    '45432d7c767e16586403262331a725c7eaa0b2dd79ea442f373c845ae3443aa9',
    '9d87b4d2538b10799b582e25ace4726d92d7798ddfb696ff08e450db7917c9ad',
    'a921841628d64c3f08bd344118b8106ade072e68c774beff30135e036194493a',
    '16ee3356c21e410a0aaab42896021b1a857eb8d97a14a66fed9b13d634c21317',
    '99c7d9752c295cb56b550191015ab5a40226fb632e8b02ec15cfe574ea17cf67',
    '4af647910ba47000108b87c63abe0545643f9b203eacee2b713729b0450983fe',
  ].join(),
  MILESTONE_THRESHOLD: '7',
};

/** A network that ended, and the file that has its last ledger. */
export interface FinalNetwork {
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
   * https://github.com/iotaledger/mainnet-launch-ceremony. Keys, none with a range, and threshold:
   * https://github.com/iotaledger/hornet/blob/v2.0.1/config_defaults.json
   */
  'iota-final': {
    url: 'https://dbfiles.mainnet.iota.cafe/latest-full_snapshot_17011901.bin',
    sha256: '972e4dad12271fdc898a780078e6ab343bfaced5dba4457d51bdfbf9ac6cb47a',
    milestone: 17_011_901,
    signers: {
      MILESTONE_PUBLIC_KEYS: [
        '2fb1d7ec714adf365eefa343b66c0c459a9930276aff08cde482cb8050028624',
        '8845cd560d66d50070c6e251d7a0a19f8de217fabf53a78ee15b41d85a489cc6',
        '1d61aab6f7e52129b78fcdf9568def0baa9c71112964f5b4d86ffc406866a986',
        'fa94be504dfb10876a449db5272f19393ded922cbe3b023b4e57b62a53835721',
        '5fadfabe6944f5f0166ada11452c642010339f916e28187ecf8b4a207c8dba47',
        '347e6892d72b71e0423bd14daaf61d2ac35e91852fa5b155b92ddda0e064f55f',
        '0e403f526a66b4c0b18e8b0257671b07892a419e4b6e4540707d9a4793d1e3be',
        '3af73a609696ff6fe63c36d060455cd83ec23edea2d2b87d5317004849cc0e9a',
        'ee1bfa9e791a9f57ea72c6192b000d906f21479ba8f40bb20cdd8badb7ddcb78',
        '083d7af99250a06d086b07bdd5bccd2bff406ee17e19332ccdb08d8be72218ce',
      ].join(),
      MILESTONE_THRESHOLD: '7',
    },
  },
};

/** Undefined if the name is of no network that is known to have ended. */
export function findFinalNetwork(name: string | undefined): FinalNetwork | undefined {
  return name !== undefined && Object.hasOwn(FINAL_NETWORKS, name)
    ? FINAL_NETWORKS[name]
    : undefined;
}

/**
 * Throws an Error with a sentence where the name is of no network that is known to have ended, or a
 * delta snapshot is given with it.
 */
export function requireFinalNetwork(name: string, delta: string | undefined): FinalNetwork {
  const network = findFinalNetwork(name);
  const names = Object.keys(FINAL_NETWORKS).join(', ');
  if (network === undefined) throw new Error(`--network must be one of ${names}, not ${name}`);
  if (delta !== undefined) throw new Error(`--network ${name} is one file, without --delta`);
  return network;
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
  }),
});

/**
 * @param name `shimmer`, `iota-final`, or the path of a configuration file as HORNET 2 reads it
 *
 * Throws an Error with a sentence where there is no such file or it names no keys.
 */
export function readSigners(name: string): Signers {
  if (name === 'shimmer') return SHIMMER;
  const final = findFinalNetwork(name);
  if (final !== undefined) return final.signers;
  const { protocol } = parseConfig(name);
  return {
    MILESTONE_PUBLIC_KEYS: protocol.publicKeyRanges
      .map(({ key, start, end }) => (start === 0 && end === 0 ? key : `${key}@${start}-${end}`))
      .join(),
    MILESTONE_THRESHOLD: String(protocol.milestonePublicKeyCount),
  };
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
