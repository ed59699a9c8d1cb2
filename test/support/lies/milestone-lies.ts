/**
 * Lies about a milestone and its cone.
 */
import { fromHex } from '../../../src/stardust/encoding/bytes.ts';
import type { Milestone } from '../../../src/stardust/wire/milestone.ts';
import { forgedBytes, forgedInJson, signedByStrangers } from './forged.ts';
import { type Lie, lie, onPage } from './lie.ts';
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
import {
  ANY_MILESTONE,
  INFO,
  MADE_UP,
  MILESTONE,
  NOTHING,
  pathOfMilestone,
} from './sample-paths.ts';

const page = '#/milestone/17339';
/** The signatures, or too few of them. */
const NOT_SIGNED = /Milestone 17,?339 is not signed by the keys of Shimmer: .*\(rule M-[23]\)/;
const NO_MILESTONE = { notChecked: /is no milestone/ };
const STRANGER = { refuted: /: signed by 0x\w+, which may not sign milestone 17339 \(rule M-3\)/ };

const inBytesOf = (change: (value: Milestone) => Milestone) => inMilestone(ANY_MILESTONE, change);
const bytesWith = (change: Partial<Milestone>) => inBytesOf((value) => ({ ...value, ...change }));
const signaturesAre = (change: (all: Milestone['signatures']) => Milestone['signatures']) =>
  inBytesOf((value) => ({ ...value, signatures: change(value.signatures) }));
const strangersSign = (count: number) => inBytesOf((value) => signedByStrangers(value, count));
const ofNetwork = (name: string) => withField(INFO, 'protocol.networkName', name);

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
const [time, root] = [{ timestamp: 1_795_000_000 }, { inclusionMerkleRoot: fromHex(MADE_UP) }];
const OF_BYTES: readonly Lie[] = onPage(page, [
  lie('a milestone for an ID that nobody has', asIfAsked(pathOfMilestone(NOTHING), MILESTONE), {
    refuted: /bytes that came for milestone 0x7{64} are those of 0xef16/,
    page: `#/milestone/${NOTHING}`,
  }),
  lie('bytes with another index', bytesWith({ index: 17_338 }), {
    refuted: /are those of milestone 17,?338/,
  }),
  lie('bytes with another time', bytesWith(time), { refuted: NOT_SIGNED }),
  lie(
    'another time, in bytes and JSON',
    [withField(MILESTONE, 'timestamp', time.timestamp), bytesWith(time)],
    { refuted: NOT_SIGNED },
  ),
  lie('bytes with another milestone before', bytesWith({ previousMilestoneId: fromHex(MADE_UP) }), {
    refuted: NOT_SIGNED,
  }),
  lie(
    'bytes with another inclusion root, told in JSON as well',
    [withField(MILESTONE, 'inclusionMerkleRoot', MADE_UP), bytesWith(root)],
    { refuted: NOT_SIGNED },
  ),
  lie('a bit of a signature', inBytes(ANY_MILESTONE, flip(-1)), { refuted: NOT_SIGNED }),
  lie(
    'six signatures',
    signaturesAre((all) => all.slice(4)),
    { marks: [], refuted: /6 keys signed, threshold 7 \(rule M-2\)/ },
  ),
  lie(
    'one signature, ten times',
    signaturesAre((all) => all.map(() => all[0]!)),
    NO_MILESTONE,
  ),
  lie('one signature by a stranger', strangersSign(1), STRANGER),
  lie('signatures by ten strangers', strangersSign(10), STRANGER),
  lie(
    'a byte too many',
    inBytes(ANY_MILESTONE, (bytes) => Buffer.concat([bytes, Buffer.of(0)])),
    NO_MILESTONE,
  ),
  lie(
    'no bytes',
    inBytes(ANY_MILESTONE, () => new Uint8Array()),
    NO_MILESTONE,
  ),
  lie(
    'JSON in place of the milestone’s bytes',
    always(ANY_MILESTONE, () => ({ verified: true }), 'bytes'),
    NO_MILESTONE,
  ),
]);

/** A verdict that is false, and roots that agree with it. */
const FORGED: readonly Lie[] = onPage(page, [
  lie('a forged cone', [...forgedInJson, forgedBytes()], { refuted: NOT_SIGNED }),
  lie('a forged cone, signed by ten strangers', [...forgedInJson, forgedBytes(10)], {
    refuted: NOT_SIGNED,
  }),
  lie('a forged cone, honest bytes', forgedInJson, {
    refuted:
      /Block 3 was applied, and the node says that it was not.* do not lead to the signed applied/,
  }),
  lie(
    'a forged cone; the milestone’s bytes never come',
    [...forgedInJson, never(ANY_MILESTONE, 'bytes')],
    { notChecked: /did not answer .*17339 within 30 seconds/, waits: true },
  ),
  lie(
    'a forged cone; the milestone’s bytes are not there',
    [...forgedInJson, withStatus(ANY_MILESTONE, 404, 'bytes')],
    { notChecked: /no bytes of the milestone/ },
  ),
  lie(
    'a forged cone of a network with a Cyrillic letter',
    [...forgedInJson, forgedBytes(), ofNetwork('sh\u0456mmer')],
    {
      notChecked:
        /looks like “shimmer” and is another name: one of its letters is U\+0456.*not signed by the keys of Shimmer/s,
    },
  ),
  lie('a network with a Cyrillic letter', ofNetwork('sh\u0456mmer'), {
    notChecked: /looks like “shimmer” and is another name/,
  }),
  lie('another known network', ofNetwork('iota-mainnet'), {
    refuted: /not signed by the keys of IOTA/,
    ofChosenKeys: true,
  }),
  lie(
    'a forged cone of an unknown network',
    [...forgedInJson, forgedBytes(10), ofNetwork('shimmer2')],
    { notChecked: /calls its network “shimmer2”.*not signed by the keys of Shimmer/s },
  ),
]);

export const MILESTONE_LIES: readonly Lie[] = [...OF_JSON, ...OF_BYTES, ...FORGED];
