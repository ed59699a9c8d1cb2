/**
 * Lies about the cone of a milestone: its explanation, and the bytes of its blocks.
 */
import { type Lie, lie, onPage } from './lie.ts';
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
const OF_CONES: readonly Lie[] = onPage(page, [
  lie('tagged data as a conflict', inBlock(0, CONFLICT), {
    refuted: /block 0 carries transaction, and its bytes carry taggedData/,
  }),
  lie(
    'tagged data as an applied transaction',
    inBlock(0, { payload: 'transaction', ledgerInclusionState: 'included' }),
    { refuted: /do not lead to the signed applied root/ },
  ),
  lie('a milestone block as an empty one', inBlock(14, { payload: 'none' }), {
    refuted: /block 14 carries none, and its bytes carry milestone/,
  }),
  lie(
    'a transaction as tagged data',
    inBlock(3, { payload: 'taggedData', ledgerInclusionState: 'noTransaction' }),
    { refuted: /do not lead to the signed applied root/ },
  ),
  lie('an applied transaction as a conflict', inBlock(3, CONFLICT), {
    marks: [3],
    refuted: /do not lead to the signed applied root/,
  }),
  lie('a verdict that there is not', inBlock(0, { ledgerInclusionState: 'maybe' }), {
    notChecked: /not what its contract says: blocks\.0\.ledgerInclusionState/,
  }),
  lie('the explanation’s index', withField(EXPLANATION, 'index', 99_999), {
    notChecked: /asked for milestone 17339, and answers another/,
  }),
  lie('the explanation’s time', withField(EXPLANATION, 'timestamp', 1_795_000_000), {
    shows: /5 applied ones hash to the applied root that was signed/,
  }),
  lie(
    'the explanation’s roots',
    [
      withField(EXPLANATION, 'inclusionMerkleRoot', MADE_UP),
      withField(EXPLANATION, 'appliedMerkleRoot', MADE_UP),
    ],
    { shows: /5 applied ones hash to the applied root that was signed/ },
  ),
  lie(
    'places in another order',
    inBlocks((blocks) => {
      for (const each of blocks) each.whiteFlagIndex = 37 - each.whiteFlagIndex;
    }),
    { refuted: /block 0 is at place 37/ },
  ),
  lie(
    'a block left out',
    inBlocks((blocks) => void blocks.splice(5, 1)),
    { refuted: /do not lead to the signed inclusion root/, alsoProved: OF_OTHER_CONES },
  ),
  lie(
    'a block twice',
    inBlocks((blocks) => void blocks.splice(5, 0, { ...blocks[5] })),
    { refuted: /names a block of this cone twice/, alsoProved: OF_OTHER_CONES },
  ),
  lie(
    'two blocks that change places',
    inBlocks((blocks) => void blocks.splice(5, 2, blocks[6], blocks[5])),
    { marks: [5, 6], refuted: /white-flag order is wrong from place 5 on/ },
  ),
  lie(
    'a block more, which nobody has',
    [
      inBlocks(
        (blocks) => void blocks.push({ ...blocks[0], blockId: NOTHING, whiteFlagIndex: 38 }),
      ),
      asIfAsked(pathOfBlock(NOTHING), pathOfBlock(DATA_BLOCK)),
    ],
    { refuted: /bytes of block 0x7{64} are those of 0xa62c/ },
  ),
  lie(
    'no block at all',
    inBlocks((blocks) => void blocks.splice(0)),
    { refuted: /do not lead to the signed inclusion root/, alsoProved: OF_OTHER_CONES },
  ),
  lie(
    '300,000 blocks',
    inJson(EXPLANATION, (json) => {
      json.blocks = Array.from({ length: 300_000 }, (_, i) => ({
        ...json.blocks[i % 38],
        blockId: `0x${i.toString(16).padStart(64, '0')}`,
        whiteFlagIndex: i,
      }));
    }),
    { notChecked: /without end|too many|contract/ },
  ),
  lie(
    'a conflict explained by control characters and right-to-left marks',
    inBlock(3, { ...CONFLICT, explanation: `${ESCAPE}\u202e${'x'.repeat(5000)}` }),
    { notChecked: /contract says: blocks\.3\.explanation/ },
  ),
  lie('a block ID of control characters', inBlock(0, { blockId: ESCAPE }), {
    notChecked: /contract says: blocks\.0\.blockId/,
  }),
]);

/** The bytes of the cone's blocks. */
const OF_BLOCK_BYTES: readonly Lie[] = onPage(page, [
  lie('a bit of a block', inBytes(pathOfBlock(DATA_BLOCK), flip(-1)), {
    marks: [0],
    refuted: /bytes of block 0xa62c\w+ are those of 0x841e/,
  }),
  lie('another block’s bytes', asIfAsked(pathOfBlock(DATA_BLOCK), pathOfBlock(MILESTONE_BLOCK)), {
    refuted: /bytes of block 0xa62c\w+ are those of 0x9043/,
  }),
  lie('blocks that are not there', withStatus(ANY_BLOCK, 404), {
    notChecked: /bytes of block 0x\w+: The node answered 404/,
  }),
  lie('one block that is not there', withStatus(pathOfBlock(APPLIED_BLOCK), 404), {
    notChecked: /bytes of block 0xf217\w+: The node answered 404/,
  }),
]);

export const CONE_LIES: readonly Lie[] = [...OF_CONES, ...OF_BLOCK_BYTES];
