/**
 * Lies about the cone of a milestone: its explanation, and the bytes of its blocks.
 */
import type { Lie } from './lie.ts';
import { asIfAsked, flip, inBytes, inJson, type Json, withField, withStatus } from './rules.ts';
import {
  ANY_BLOCK,
  APPLIED_BLOCK,
  DATA_BLOCK,
  EXPLANATION,
  MADE_UP,
  MILESTONE_BLOCK,
  NOTHING,
  pathOfBlock,
} from './sample-paths.ts';

const page = '#/milestone/17339';
const ESCAPE = '\u001b[2J\u001b[H\u001b[32mEverything holds.\u001b[8m';

/** True of the blocks that are told, whoever signed them. */
const OF_OTHER_CONES =
  /^Each of \d+ blocks has the hash|^The walk from the parents meets them in this order/;

/** Changes the milestone's block at a place of the explanation. */
const inBlock = (place: number, change: Json) =>
  inJson(EXPLANATION, ({ blocks }) => void Object.assign(blocks[place], change));

const inBlocks = (change: (blocks: Json[]) => void) =>
  inJson(EXPLANATION, ({ blocks }) => change(blocks));

const CONFLICT = {
  payload: 'transaction',
  ledgerInclusionState: 'conflicting',
  conflictReason: 1,
  explanation: 'the referenced input was already spent',
  rule: 'L-4',
  decidingInput: { input: 0, outputId: `${NOTHING}0000`, spentBy: MADE_UP },
};

/** The explanation of the cone. */
const OF_CONES: readonly Lie[] = [
  {
    name: 'tagged data as a conflict',
    refuted: /block 0 carries transaction, and its bytes carry taggedData/,
    rules: [inBlock(0, CONFLICT)],
  },
  {
    name: 'tagged data as an applied transaction',
    refuted: /do not lead to the signed applied root/,
    rules: [inBlock(0, { payload: 'transaction', ledgerInclusionState: 'included' })],
  },
  {
    name: 'a milestone block as an empty one',
    refuted: /block 14 carries none, and its bytes carry milestone/,
    rules: [inBlock(14, { payload: 'none' })],
  },
  {
    name: 'a transaction as tagged data',
    refuted: /do not lead to the signed applied root/,
    rules: [inBlock(3, { payload: 'taggedData', ledgerInclusionState: 'noTransaction' })],
  },
  {
    name: 'an applied transaction as a conflict',
    marks: [3],
    refuted: /do not lead to the signed applied root/,
    rules: [inBlock(3, CONFLICT)],
  },
  {
    name: 'a verdict that there is not',
    notChecked: /not what its contract says: blocks\.0\.ledgerInclusionState/,
    rules: [inBlock(0, { ledgerInclusionState: 'maybe' })],
  },
  {
    name: 'the explanation’s index',
    notChecked: /asked for milestone 17339, and answers another/,
    rules: [withField(EXPLANATION, 'index', 99_999)],
  },
  {
    name: 'the explanation’s time',
    shows: /5 applied ones hash to the applied root that was signed/,
    rules: [withField(EXPLANATION, 'timestamp', 1_795_000_000)],
  },
  {
    name: 'the explanation’s roots',
    shows: /5 applied ones hash to the applied root that was signed/,
    rules: [
      withField(EXPLANATION, 'inclusionMerkleRoot', MADE_UP),
      withField(EXPLANATION, 'appliedMerkleRoot', MADE_UP),
    ],
  },
  {
    name: 'places in another order',
    refuted: /block 0 is at place 37/,
    rules: [
      inBlocks((blocks) => {
        for (const each of blocks) each.whiteFlagIndex = 37 - each.whiteFlagIndex;
      }),
    ],
  },
  {
    name: 'a block left out',
    refuted: /do not lead to the signed inclusion root/,
    alsoProved: OF_OTHER_CONES,
    rules: [inBlocks((blocks) => void blocks.splice(5, 1))],
  },
  {
    name: 'a block twice',
    refuted: /names a block of this cone twice/,
    alsoProved: OF_OTHER_CONES,
    rules: [inBlocks((blocks) => void blocks.splice(5, 0, { ...blocks[5] }))],
  },
  {
    name: 'two blocks that change places',
    marks: [5, 6],
    refuted: /white-flag order is wrong from place 5 on/,
    rules: [inBlocks((blocks) => void blocks.splice(5, 2, blocks[6], blocks[5]))],
  },
  {
    name: 'a block more, which nobody has',
    refuted: /bytes of block 0x7{64} are those of 0xa62c/,
    rules: [
      inBlocks(
        (blocks) => void blocks.push({ ...blocks[0], blockId: NOTHING, whiteFlagIndex: 38 }),
      ),
      asIfAsked(pathOfBlock(NOTHING), pathOfBlock(DATA_BLOCK)),
    ],
  },
  {
    name: 'no block at all',
    refuted: /do not lead to the signed inclusion root/,
    alsoProved: OF_OTHER_CONES,
    rules: [inBlocks((blocks) => void blocks.splice(0))],
  },
  {
    name: '300,000 blocks',
    notChecked: /without end|too many|contract/,
    rules: [
      inJson(EXPLANATION, (json) => {
        json.blocks = Array.from({ length: 300_000 }, (_, i) => ({
          ...json.blocks[i % 38],
          blockId: `0x${i.toString(16).padStart(64, '0')}`,
          whiteFlagIndex: i,
        }));
      }),
    ],
  },
  {
    name: 'a conflict explained by control characters and right-to-left marks',
    notChecked: /contract says: blocks\.3\.explanation/,
    rules: [inBlock(3, { ...CONFLICT, explanation: `${ESCAPE}\u202e${'x'.repeat(5000)}` })],
  },
  {
    name: 'a block ID of control characters',
    notChecked: /contract says: blocks\.0\.blockId/,
    rules: [inBlock(0, { blockId: ESCAPE })],
  },
].map((lie) => ({ page, ...lie }));

/** The bytes of the cone's blocks. */
const OF_BLOCK_BYTES: readonly Lie[] = [
  {
    name: 'a bit of a block',
    marks: [0],
    refuted: /bytes of block 0xa62c\w+ are those of 0x841e/,
    rules: [inBytes(pathOfBlock(DATA_BLOCK), flip(-1))],
  },
  {
    name: 'another block’s bytes',
    refuted: /bytes of block 0xa62c\w+ are those of 0x9043/,
    rules: [asIfAsked(pathOfBlock(DATA_BLOCK), pathOfBlock(MILESTONE_BLOCK))],
  },
  {
    name: 'blocks that are not there',
    notChecked: /bytes of block 0x\w+: The node answered 404/,
    rules: [withStatus(ANY_BLOCK, 404)],
  },
  {
    name: 'one block that is not there',
    notChecked: /bytes of block 0xf217\w+: The node answered 404/,
    rules: [withStatus(pathOfBlock(APPLIED_BLOCK), 404)],
  },
].map((lie) => ({ page, ...lie }));

export const CONE_LIES: readonly Lie[] = [...OF_CONES, ...OF_BLOCK_BYTES];
