/**
 * Lies about blocks, transactions and proposals.
 */
import { fromHex, toHex } from '../../../src/stardust/encoding/bytes.ts';
import { leafHash, nodeHash } from '../../../src/stardust/proof/merkle.ts';
import { forgedBytes, forgedInJson } from './forged.ts';
import type { Lie } from './lie.ts';
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

const BLOCKS: readonly Lie[] = [
  {
    name: 'a block that does not exist, with a path of its own',
    notChecked: /bytes of block 0x(?:ab){32}: The node answered 404/,
    rules: [
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
    page: `#/block/${MADE_UP}`,
  },
  {
    name: 'another block than the one that was asked for',
    notChecked: /asked for block 0x7{64}, and answers another/,
    rules: [asIfAsked(pathOfMetadata(NOTHING), pathOfMetadata(APPLIED_BLOCK))],
    page: `#/block/${NOTHING}`,
  },
  {
    name: 'all of another block',
    notChecked: /asked for block 0x7{64}, and answers another/,
    rules: [
      asIfAsked(pathOfMetadata(NOTHING), pathOfMetadata(APPLIED_BLOCK)),
      asIfAsked(pathOfBlock(NOTHING), pathOfBlock(APPLIED_BLOCK)),
    ],
    page: `#/block/${NOTHING}`,
  },
  {
    name: 'a transaction that nobody made',
    refuted: /Block 0xf217\w+ does not carry transaction 0x7{64}/,
    alsoProved: OF_OTHER_BLOCKS,
    rules: [
      asIfAsked(
        `/api/core/v2/transactions/${NOTHING}/included-block/metadata`,
        pathOfMetadata(APPLIED_BLOCK),
      ),
    ],
    page: `#/transaction/${NOTHING}`,
  },
  {
    name: 'another block for a transaction',
    refuted: /Block 0xf217\w+ does not carry transaction 0x9d9a/,
    alsoProved: OF_OTHER_BLOCKS,
    rules: [
      asIfAsked(
        `/api/core/v2/transactions/${TRANSACTION}/included-block/metadata`,
        pathOfMetadata(APPLIED_BLOCK),
      ),
    ],
    page: `#/transaction/${TRANSACTION}`,
  },
  {
    name: 'a block with data for a transaction',
    refuted: /Block 0xa62c\w+ does not carry transaction 0x9d9a/,
    alsoProved: OF_OTHER_BLOCKS,
    rules: [
      asIfAsked(
        `/api/core/v2/transactions/${TRANSACTION}/included-block/metadata`,
        pathOfMetadata(DATA_BLOCK),
      ),
      withField(ANY_METADATA, 'ledgerInclusionState', 'included'),
    ],
    page: `#/transaction/${TRANSACTION}`,
  },
];

/** What the metadata of a block say. */
const METADATA: readonly Lie[] = (
  [
    [
      'tagged data as applied',
      DATA_BLOCK,
      { ledgerInclusionState: 'included' },
      {
        refuted:
          /says that the block has a transaction that was applied, and it has no transaction/,
        hides: /the transaction was applied/,
      },
    ],
    [
      'an applied transaction as a conflict, on its page',
      APPLIED_BLOCK,
      { ledgerInclusionState: 'conflicting', conflictReason: 1 },
      {
        refuted:
          /says that the block has a transaction in conflict, and it has a transaction that was applied/,
        shows: /the transaction was applied/,
      },
    ],
    [
      'an applied transaction as none',
      APPLIED_BLOCK,
      { ledgerInclusionState: 'noTransaction' },
      {
        refuted:
          /says that the block has no transaction, and it has a transaction that was applied/,
        shows: /the transaction was applied/,
      },
    ],
    [
      'another milestone for a block',
      APPLIED_BLOCK,
      { referencedByMilestoneIndex: 17_338 },
      { notChecked: /Milestone 17338: The node answered 404/ },
    ],
    [
      'a place in the order',
      APPLIED_BLOCK,
      { whiteFlagIndex: 21 },
      { refuted: /at place 21, and it is at 3/ },
    ],
    [
      'no milestone for a block',
      APPLIED_BLOCK,
      { referencedByMilestoneIndex: undefined },
      { notChecked: /No milestone references this block yet, this node says/ },
    ],
    ['the parents of a block', APPLIED_BLOCK, { parents: [MADE_UP] }, { shows: /Parents 0x1880/ }],
    [
      'a milestone that a block carries',
      DATA_BLOCK,
      { milestoneIndex: INDEX },
      { shows: /Carries tagged data/ },
    ],
  ] as const
).map(([name, id, change, words]) => ({
  name,
  ...words,
  rules: [inJson(pathOfMetadata(id), (json) => void Object.assign(json, change))],
  page: `#/block/${id}`,
}));

const page = `#/block/${APPLIED_BLOCK}`;

const PROOF = pathOfProof(APPLIED_BLOCK);

const PROOFS: readonly Lie[] = [
  {
    name: 'the path of another block',
    refuted: /This is the proof of block 0x(?:ab){32}/,
    rules: [withField(ANY_PROOF, 'proof', { value: MADE_UP })],
  },
  {
    name: 'a hash on the path',
    refuted: /does not lead to the signed root: .* wrong at level 6/,
    rules: [inJson(ANY_PROOF, otherSibling)],
  },
  {
    name: 'the path of another block of the milestone',
    refuted: /This is the proof of block 0xd79a/,
    rules: [asIfAsked(PROOF, pathOfProof(TRANSACTION_BLOCK))],
  },
  {
    name: 'the applied path in place of the other',
    refuted: /does not lead to the signed root/,
    rules: [inJson(PROOF, (json) => ({ ...json, proof: json.appliedProof }))],
  },
  {
    name: 'the inclusion path as the applied one',
    refuted: /does not lead to the signed root/,
    rules: [inJson(PROOF, (json) => ({ ...json, appliedProof: json.proof }))],
  },
  {
    name: 'no path to the applied root',
    notChecked: /what became of the transaction/,
    rules: [inJson(PROOF, (json) => void delete json.appliedProof)],
  },
  {
    name: 'the inclusion path as the applied one, of tagged data',
    refuted: /carries no transaction, so none was applied/,
    rules: [
      inJson(ANY_PROOF, (json) => ({ ...json, appliedProof: json.proof })),
      withField(pathOfMetadata(DATA_BLOCK), 'ledgerInclusionState', 'included'),
    ],
    page: `#/block/${DATA_BLOCK}`,
  },
  {
    name: 'a path of 20,000 levels',
    notChecked: /contract/,
    rules: [
      always(ANY_PROOF, () => {
        const level = `{"l":{"h":"${MADE_UP}"},"r":`;
        return `{"proof":${level.repeat(20_000)}0${'}'.repeat(20_000)}}`;
      }),
    ],
  },
  {
    name: 'no path',
    notChecked: /Merkle path: The node answered 404/,
    rules: [withStatus(ANY_PROOF, 404)],
  },
  {
    name: 'a path that never comes',
    notChecked: /proof within 30 seconds/,
    rules: [never(ANY_PROOF)],
    waits: true as const,
  },
  { name: 'a path without an end', notChecked: /proof without end/, rules: [endless(ANY_PROOF)] },
  {
    name: 'a forged milestone for a path',
    refuted: /is not signed by the keys of Shimmer: M-3/,
    rules: [...forgedInJson.slice(1), forgedBytes(10)],
  },
  {
    name: 'a bit of the block',
    refuted: /bytes of block 0xf217\w+ are those of 0x2ee0/,
    rules: [inBytes(ANY_BLOCK, flip(-1))],
  },
  {
    name: 'other JSON of a block',
    said: /Block as JSON, this node says.*0xdead/,
    rules: [
      inJson(pathOfBlock(APPLIED_BLOCK), (json) => {
        json.payload = { type: 5, tag: '0x00', data: '0xdead' };
      }),
    ],
  },
  {
    name: 'JSON of a block, 200,000 levels deep',
    shows: /applied root that was signed: the transaction was applied/,
    rules: [
      inText(pathOfBlock(APPLIED_BLOCK), (text) =>
        text.replace('{', `{"deep":${nested(200_000)},`),
      ),
    ],
  },
  {
    name: 'no milestone bytes for a path',
    notChecked: /nothing shows which root was signed/,
    rules: [withStatus(ANY_MILESTONE, 404, 'bytes')],
  },
  {
    name: 'no cone for a path',
    shows: /7 hashes lead to the inclusion root/,
    alsoProved: /^7 hashes lead to the inclusion root of milestone 17339 that was signed\.$/,
    rules: [withStatus(EXPLANATION, 404)],
  },
].map((lie) => ({ page, ...lie }));

export const BLOCK_LIES: readonly Lie[] = [...BLOCKS, ...METADATA, ...PROOFS];
