/**
 * Lies about a milestone and its cone.
 */
import { fromHex } from '../../../src/stardust/encoding/bytes.ts';
import { forgedBytes, forgedInJson, signedByStrangers } from './forged.ts';
import type { Lie } from './lie.ts';
import {
  always,
  asIfAsked,
  flip,
  inBytes,
  inMilestone,
  type Json,
  never,
  withField,
  withStatus,
} from './rules.ts';
import { ANY_MILESTONE, INFO, MADE_UP, MILESTONE, NOTHING } from './sample-paths.ts';

const page = '#/milestone/17339';
/** The signatures, or too few of them. */
const NOT_SIGNED = /Milestone 17,?339 is not signed by the keys of Shimmer: M-[23]/;

const LOOKALIKE = 'sh\u0456mmer';

/** The JSON of the milestone says other things than its bytes. Only bytes are read. */
const OF_JSON: readonly Lie[] = [
  ['the time', 'timestamp', 1_795_000_000],
  ['the milestone before', 'previousMilestoneId', MADE_UP],
  ['the inclusion root', 'inclusionMerkleRoot', MADE_UP],
  ['the applied root', 'appliedMerkleRoot', MADE_UP],
  ['the parents', 'parents', (all: string[]) => all.slice(1)],
  ['the index', 'index', 17_338],
  [
    'who signed',
    'signatures',
    (all: Json[]) => all.map((each) => ({ ...each, publicKey: MADE_UP })),
  ],
  ['how many signed', 'signatures', (all: Json[]) => all.slice(3)],
].map(([what, field, value]) => ({
  name: `${what} of a milestone, in JSON`,
  rules: [withField(MILESTONE, field as string, value)],
  isUnheard: true,
  page,
  shows: /28 Sept 2022, 17:25:01 UTC is signed by 10 of the keys of Shimmer/,
}));

/** The bytes are not what was signed. */
const OF_BYTES: readonly Lie[] = [
  {
    name: 'a milestone for an ID that nobody has',
    refuted: /bytes that came for milestone 0x7{64} are those of 0xef16/,
    rules: [asIfAsked(`/api/core/v2/milestones/${NOTHING}`, MILESTONE)],
    page: `#/milestone/${NOTHING}`,
  },
  {
    name: 'bytes with another index',
    refuted: /are those of milestone 17,?338/,
    rules: [inMilestone(ANY_MILESTONE, (value) => ({ ...value, index: 17_338 }))],
    page,
  },
  {
    name: 'bytes with another time',
    refuted: NOT_SIGNED,
    rules: [inMilestone(ANY_MILESTONE, (value) => ({ ...value, timestamp: 1_795_000_000 }))],
    page,
  },
  {
    name: 'another time, in bytes and JSON',
    refuted: NOT_SIGNED,
    rules: [
      withField(MILESTONE, 'timestamp', 1_795_000_000),
      inMilestone(ANY_MILESTONE, (value) => ({ ...value, timestamp: 1_795_000_000 })),
    ],
    page,
  },
  {
    name: 'bytes with another milestone before',
    refuted: NOT_SIGNED,
    rules: [
      inMilestone(ANY_MILESTONE, (value) => ({ ...value, previousMilestoneId: fromHex(MADE_UP) })),
    ],
    page,
  },
  {
    name: 'bytes with another inclusion root, told in JSON as well',
    refuted: NOT_SIGNED,
    rules: [
      withField(MILESTONE, 'inclusionMerkleRoot', MADE_UP),
      inMilestone(ANY_MILESTONE, (value) => ({ ...value, inclusionMerkleRoot: fromHex(MADE_UP) })),
    ],
    page,
  },
  {
    name: 'a bit of a signature',
    refuted: NOT_SIGNED,
    rules: [inBytes(ANY_MILESTONE, flip(-1))],
    page,
  },
  {
    name: 'six signatures',
    marks: [],
    refuted: /M-2: 6 keys signed, threshold 7/,
    rules: [
      inMilestone(ANY_MILESTONE, (value) => ({ ...value, signatures: value.signatures.slice(4) })),
    ],
    page,
  },
  {
    name: 'one signature, ten times',
    notChecked: /is no milestone/,
    rules: [
      inMilestone(ANY_MILESTONE, (value) => ({
        ...value,
        signatures: value.signatures.map(() => value.signatures[0]!),
      })),
    ],
    page,
  },
  {
    name: 'one signature by a stranger',
    refuted: /M-3: signed by 0x\w+, which may not sign/,
    rules: [inMilestone(ANY_MILESTONE, (value) => signedByStrangers(value, 1))],
    page,
  },
  {
    name: 'signatures by ten strangers',
    refuted: /M-3: signed by 0x\w+, which may not sign/,
    rules: [inMilestone(ANY_MILESTONE, (value) => signedByStrangers(value, 10))],
    page,
  },
  {
    name: 'a byte too many',
    notChecked: /is no milestone/,
    rules: [inBytes(ANY_MILESTONE, (bytes) => Buffer.concat([bytes, Buffer.of(0)]))],
    page,
  },
  {
    name: 'no bytes',
    notChecked: /is no milestone/,
    rules: [inBytes(ANY_MILESTONE, () => new Uint8Array())],
    page,
  },
  {
    name: 'JSON in place of the milestone’s bytes',
    notChecked: /is no milestone/,
    rules: [always(ANY_MILESTONE, () => ({ verified: true }), 'bytes')],
    page,
  },
];

/** A verdict that is false, and roots that agree with it. */
const FORGED: readonly Lie[] = [
  { name: 'a forged cone', refuted: NOT_SIGNED, rules: [...forgedInJson, forgedBytes()], page },
  {
    name: 'a forged cone, signed by ten strangers',
    refuted: NOT_SIGNED,
    rules: [...forgedInJson, forgedBytes(10)],
    page,
  },
  {
    name: 'a forged cone, honest bytes',
    refuted: /do not lead to the signed applied root.* block 3 is the wrong one/,
    rules: forgedInJson,
    page,
  },
  {
    name: 'a forged cone; the milestone’s bytes never come',
    notChecked: /did not answer .*17339 within 30 seconds/,
    rules: [...forgedInJson, never(ANY_MILESTONE, 'bytes')],
    page,
    waits: true,
  },
  {
    name: 'a forged cone; the milestone’s bytes are not there',
    notChecked: /no bytes of the milestone/,
    rules: [...forgedInJson, withStatus(ANY_MILESTONE, 404, 'bytes')],
    page,
  },
  {
    name: 'a forged cone of a network with a Cyrillic letter',
    notChecked:
      /looks like “shimmer” and is another name: one of its letters is U\+0456.*not signed by the keys of Shimmer/s,
    rules: [...forgedInJson, forgedBytes(), withField(INFO, 'protocol.networkName', LOOKALIKE)],
    page,
  },
  {
    name: 'a network with a Cyrillic letter',
    notChecked: /looks like “shimmer” and is another name/,
    rules: [withField(INFO, 'protocol.networkName', LOOKALIKE)],
    page,
  },
  {
    name: 'another known network',
    notChecked: /calls its network “iota-mainnet”, and you check against the keys of Shimmer/,
    rules: [withField(INFO, 'protocol.networkName', 'iota-mainnet')],
    page,
  },
  {
    name: 'a forged cone of an unknown network',
    notChecked: /calls its network “shimmer2”.*not signed by the keys of Shimmer/s,
    rules: [...forgedInJson, forgedBytes(10), withField(INFO, 'protocol.networkName', 'shimmer2')],
    page,
  },
];

export const MILESTONE_LIES: readonly Lie[] = [...OF_JSON, ...OF_BYTES, ...FORGED];
