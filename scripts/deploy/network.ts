/**
 * Who signs the milestones of a network: Shimmer's keys are known here, those of other networks are
 * read from the configuration file of its HORNET nodes.
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
 * @param name `shimmer`, or the path of a configuration file as HORNET 2 reads it
 *
 * Throws an Error with a sentence where there is no such file or it names no keys.
 */
export function readSigners(name: string): Signers {
  if (name === 'shimmer') return SHIMMER;
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
