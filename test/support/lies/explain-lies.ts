/**
 * What the other node answers while `stardust-edge explain` compares two: it differs, and that is
 * said in plain lines.
 */
import { type Lie, lie } from './lie.ts';
import {
  always,
  endless,
  inJson,
  inText,
  type Json,
  never,
  withField,
  withStatus,
  zerosForBlocks,
} from './rules.ts';
import { ANY_METADATA, INFO, MADE_UP, MILESTONE, NOTHING, PROPOSAL } from './sample-paths.ts';

interface ExplainLie extends Pick<Lie, 'name' | 'rules' | 'waits'> {
  /** What is printed, besides exit code 1. */
  prints: RegExp;
}

const CLEAR = '\u001b[2J\u001b[H';
const SAME = `${CLEAR}The same 38 blocks in the same order with the same verdicts.\u001b[8m`;

const inBlock = (place: number, change: Json) =>
  inJson(PROPOSAL, ({ blocks }) => void Object.assign(blocks[place], change));

const asHornet = withField(INFO, 'name', 'HORNET');
const inConflict = (more: Json) =>
  inBlock(3, { ledgerInclusionState: 'conflicting', conflictReason: 1, ...more });
const ANYTHING = { prints: /\S/ };

export const EXPLAIN_LIES: readonly ExplainLie[] = [
  lie('a verdict', inConflict({}), {
    prints: /at place 3 of the white-flag order/,
  }),
  lie(
    'two blocks that change places',
    inJson(PROPOSAL, ({ blocks }) => void blocks.splice(5, 2, blocks[6], blocks[5])),
    { prints: /at place 5 of the white-flag order.*ours has 0x\w+, theirs 0x\w+/s },
  ),
  lie(
    'a block left out',
    inJson(PROPOSAL, ({ blocks }) => void blocks.pop()),
    { prints: /Only ours has a block there/ },
  ),
  lie(
    'a block more',
    inJson(PROPOSAL, ({ blocks }) => void blocks.push({ ...blocks[0], blockId: NOTHING })),
    { prints: /Only theirs has a block there: 0x7{64}/ },
  ),
  lie('another index', withField(PROPOSAL, 'index', 99_999), {
    prints: /^These are two milestones: ours 17339, theirs 99999\.$/m,
  }),
  lie('a root', withField(PROPOSAL, 'appliedMerkleRoot', MADE_UP), {
    prints: /appliedMerkleRoot: ours 0x9c04.*, theirs 0xabab/,
  }),
  lie('a verdict with escape sequences', inConflict({ explanation: SAME }), {
    prints: /\\u\{1b\}\[2J/,
  }),
  lie('a rule of 100,000 characters', inConflict({ rule: 'S'.repeat(100_000) }), {
    prints: /at place 3/,
  }),
  lie(
    'a block ID from right to left, over several lines',
    inBlock(0, { blockId: `${NOTHING}\u202e\n\nThe same` }),
    { prints: /place 0|Not checked/ },
  ),
  lie(
    'a HORNET’s name with escape sequences',
    inJson(INFO, (json) => {
      json.name = SAME;
      json.status.confirmedMilestone.index = 5;
    }),
    { prints: /milestone 5/ },
  ),
  lie(
    'a HORNET with all blocks at one place',
    [asHornet, withField(ANY_METADATA, 'whiteFlagIndex', (place: number) => +!place)],
    { prints: /place|Not checked/ },
  ),
  ...[30_000_000, 4_294_967_294, 2 ** 53, -1, 1.5].map((place) => ({
    name: `a HORNET with blocks at place ${place}`,
    rules: [asHornet, withField(ANY_METADATA, 'whiteFlagIndex', place)],
    prints: /place|Not checked/,
  })),
  lie(
    'a HORNET whose roots are no roots',
    [asHornet, withField(MILESTONE, 'inclusionMerkleRoot', SAME)],
    ANYTHING,
  ),
  lie('no explanation', withStatus(PROPOSAL, 404), { prints: /404/ }),
  lie('an explanation without an end', endless(PROPOSAL), ANYTHING),
  lie('eight million zeros in place of blocks', inText(PROPOSAL, zerosForBlocks), {
    prints: /Not checked: /,
  }),
  lie('an explanation that never comes', never(PROPOSAL), { prints: /\S/, waits: true }),
  lie(
    'an empty answer',
    always(PROPOSAL, () => ''),
    ANYTHING,
  ),
];
