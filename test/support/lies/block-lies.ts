/**
 * Lies about blocks, transactions and proposals.
 */
import { fromHex, toHex } from '../../../src/stardust/encoding/bytes.ts';
import { leafHash, nodeHash } from '../../../src/stardust/proof/merkle.ts';
import { forgedBytes, forgedInJson } from './forged.ts';
import { type Lie, lie, onPage } from './lie.ts';
import {
  always,
  asIfAsked,
  endless,
  flip,
  inBytes,
  inJson,
  inText,
  type Json,
  nested,
  never,
  withField,
  withStatus,
} from './rules.ts';
import {
  ANY_BLOCK,
  ANY_METADATA,
  ANY_MILESTONE,
  ANY_PROOF,
  APPLIED_BLOCK,
  DATA_BLOCK,
  EXPLANATION,
  INDEX,
  MADE_UP,
  MILESTONE,
  NOTHING,
  pathOfBlock,
  pathOfMetadata,
  pathOfProof,
  TRANSACTION,
  TRANSACTION_BLOCK,
} from './sample-paths.ts';

const SIBLING = `0x${'11'.repeat(32)}`;

/** True of the block that is told in place of another. */
const OF_OTHER_BLOCKS = /^Proved by your browser: the bytes hash to the block’s ID/;

/** The root of a path that was made up for a block. */
const madeUpRoot = (blockId: string) =>
  toHex(nodeHash(leafHash(fromHex(blockId)), fromHex(SIBLING)));

/** The first hash on the path is another one. */
const otherSibling = (json: Json) => {
  const cut = 'h' in json.proof.l ? json.proof.l : json.proof.r;
  cut.h = MADE_UP;
};

/** What is asked for is another one than `as`. */
const metadataOf = (as: string, told: string) =>
  asIfAsked(pathOfMetadata(as), pathOfMetadata(told));
const blockOf = (transaction: string, told: string) =>
  asIfAsked(
    `/api/core/v2/transactions/${transaction}/included-block/metadata`,
    pathOfMetadata(told),
  );
const ANOTHER = { notChecked: /asked for block 0x7{64}, and answers another/ };

const BLOCKS: readonly Lie[] = [
  ...onPage(`#/block/${MADE_UP}`, [
    lie(
      'a block that does not exist, with a path of its own',
      [
        always(pathOfMetadata(MADE_UP), () => ({
          blockId: MADE_UP,
          parents: [],
          isSolid: true,
          referencedByMilestoneIndex: INDEX,
          whiteFlagIndex: 21,
          ledgerInclusionState: 'included',
        })),
        always(ANY_PROOF, () => ({ proof: { l: { value: MADE_UP }, r: { h: SIBLING } } })),
        withField(MILESTONE, 'inclusionMerkleRoot', madeUpRoot(MADE_UP)),
      ],
      { notChecked: /bytes of block 0x(?:ab){32}: The node answered 404/ },
    ),
  ]),
  ...onPage(`#/block/${NOTHING}`, [
    lie(
      'another block than the one that was asked for',
      metadataOf(NOTHING, APPLIED_BLOCK),
      ANOTHER,
    ),
    lie(
      'all of another block',
      [
        metadataOf(NOTHING, APPLIED_BLOCK),
        asIfAsked(pathOfBlock(NOTHING), pathOfBlock(APPLIED_BLOCK)),
      ],
      ANOTHER,
    ),
  ]),
  ...onPage(
    `#/transaction/${TRANSACTION}`,
    [
      lie('a transaction that nobody made', blockOf(NOTHING, APPLIED_BLOCK), {
        refuted: /Block 0xf217\w+ does not carry transaction 0x7{64}/,
        page: `#/transaction/${NOTHING}`,
      }),
      lie('another block for a transaction', blockOf(TRANSACTION, APPLIED_BLOCK), {
        refuted: /Block 0xf217\w+ does not carry transaction 0x9d9a/,
      }),
      lie(
        'a block with data for a transaction',
        [
          blockOf(TRANSACTION, DATA_BLOCK),
          withField(ANY_METADATA, 'ledgerInclusionState', 'included'),
        ],
        { refuted: /Block 0xa62c\w+ does not carry transaction 0x9d9a/ },
      ),
    ],
    { alsoProved: OF_OTHER_BLOCKS },
  ),
];

/** The metadata of a block say this, on the page of the block. */
const says = (id: string, name: string, change: object, words: Partial<Lie>) => ({
  ...lie(
    name,
    inJson(pathOfMetadata(id), (json) => void Object.assign(json, change)),
    words,
  ),
  page: `#/block/${id}`,
});

const APPLIED = /signed: the transaction was applied/;

const METADATA: readonly Lie[] = [
  says(
    DATA_BLOCK,
    'tagged data as applied',
    { ledgerInclusionState: 'included' },
    {
      refuted: /was applied with this block\. It is false: the block has no transaction/,
      hides: APPLIED,
    },
  ),
  says(
    APPLIED_BLOCK,
    'an applied transaction as a conflict, on its page',
    { ledgerInclusionState: 'conflicting', conflictReason: 1 },
    {
      refuted: /was not applied with this block\. It is false: the transaction was applied/,
      shows: APPLIED,
    },
  ),
  says(
    APPLIED_BLOCK,
    'an applied transaction as none',
    { ledgerInclusionState: 'noTransaction' },
    {
      refuted: /says that the block has no transaction\. It is false: the transaction was applied/,
      shows: APPLIED,
    },
  ),
  says(
    APPLIED_BLOCK,
    'another milestone for a block',
    { referencedByMilestoneIndex: 17_338 },
    {
      notChecked: /Who signed milestone 17338, as this node does not have its bytes/,
    },
  ),
  says(
    APPLIED_BLOCK,
    'a place in the order',
    { whiteFlagIndex: 21 },
    {
      refuted: /at place 21, and it is at 3/,
    },
  ),
  says(
    APPLIED_BLOCK,
    'no milestone for a block',
    { referencedByMilestoneIndex: undefined },
    {
      notChecked: /No milestone references this block yet, this node says/,
    },
  ),
  says(
    APPLIED_BLOCK,
    'the parents of a block',
    { parents: [MADE_UP] },
    { shows: /Parents 0x1880/ },
  ),
  says(
    DATA_BLOCK,
    'a milestone that a block carries',
    { milestoneIndex: INDEX },
    {
      shows: /Carries tagged data/,
    },
  ),
];

const page = `#/block/${APPLIED_BLOCK}`;

const PROOF = pathOfProof(APPLIED_BLOCK);

const PROOFS: readonly Lie[] = onPage(page, [
  lie('the path of another block', withField(ANY_PROOF, 'proof', { value: MADE_UP }), {
    refuted: /This is the proof of block 0x(?:ab){32}/,
  }),
  lie('a hash on the path', inJson(ANY_PROOF, otherSibling), {
    refuted: /does not lead to the signed root: .* wrong at level 6/,
  }),
  lie(
    'the path of another block of the milestone',
    asIfAsked(PROOF, pathOfProof(TRANSACTION_BLOCK)),
    { refuted: /This is the proof of block 0xd79a/ },
  ),
  lie(
    'the applied path in place of the other',
    inJson(PROOF, (json) => ({ ...json, proof: json.appliedProof })),
    { refuted: /does not lead to the signed root/ },
  ),
  lie(
    'the inclusion path as the applied one',
    inJson(PROOF, (json) => ({ ...json, appliedProof: json.proof })),
    { refuted: /does not lead to the signed root/ },
  ),
  lie(
    'no path to the applied root',
    inJson(PROOF, (json) => void delete json.appliedProof),
    { notChecked: /what became of the transaction/ },
  ),
  lie(
    'the inclusion path as the applied one, of tagged data',
    [
      inJson(ANY_PROOF, (json) => ({ ...json, appliedProof: json.proof })),
      withField(pathOfMetadata(DATA_BLOCK), 'ledgerInclusionState', 'included'),
    ],
    { refuted: /carries no transaction, so none was applied/, page: `#/block/${DATA_BLOCK}` },
  ),
  lie(
    'a path of 20,000 levels',
    always(ANY_PROOF, () => {
      const level = `{"l":{"h":"${MADE_UP}"},"r":`;
      return `{"proof":${level.repeat(20_000)}0${'}'.repeat(20_000)}}`;
    }),
    { notChecked: /contract/ },
  ),
  lie('no path', withStatus(ANY_PROOF, 404), { notChecked: /Merkle path: The node answered 404/ }),
  lie('a path that never comes', never(ANY_PROOF), {
    notChecked: /proof within 30 seconds/,
    waits: true,
  }),
  lie('a path without an end', endless(ANY_PROOF), { notChecked: /proof without end/ }),
  lie('a forged milestone for a path', [...forgedInJson.slice(1), forgedBytes(10)], {
    refuted: /is not signed by the keys of Shimmer: .*\(rule M-3\)/,
  }),
  lie('a bit of the block', inBytes(ANY_BLOCK, flip(-1)), {
    refuted: /bytes of block 0xf217\w+ are those of 0x2ee0/,
  }),
  lie(
    'other JSON of a block',
    inJson(pathOfBlock(APPLIED_BLOCK), (json) => {
      json.payload = { type: 5, tag: '0x00', data: '0xdead' };
    }),
    { said: /Block as JSON, this node says.*0xdead/ },
  ),
  lie(
    'JSON of a block, 200,000 levels deep',
    inText(pathOfBlock(APPLIED_BLOCK), (text) => text.replace('{', `{"deep":${nested(200_000)},`)),
    { shows: /applied root that was signed: the transaction was applied/ },
  ),
  lie('no milestone bytes for a path', withStatus(ANY_MILESTONE, 404, 'bytes'), {
    notChecked: /nothing shows which root was signed/,
  }),
  lie('no cone for a path', withStatus(EXPLANATION, 404), {
    shows: /7 hashes lead to the inclusion root/,
    alsoProved: /^7 hashes lead to the inclusion root of milestone 17339 that was signed\.$/,
  }),
]);

export const BLOCK_LIES: readonly Lie[] = [...BLOCKS, ...METADATA, ...PROOFS];
