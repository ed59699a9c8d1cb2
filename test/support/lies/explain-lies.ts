/**
 * What the other node answers while `stardust-edge explain` compares two: it differs, and that is
 * said in plain lines.
 */
import type { Rule } from './lying-node.ts';
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

interface ExplainLie {
  name: string;
  rules: readonly Rule[];
  /** What is printed, besides exit code 1. */
  prints: RegExp;
  /** There is an answer that never comes. */
  waits?: true;
}

const CLEAR = '\u001b[2J\u001b[H';
const SAME = `${CLEAR}The same 38 blocks in the same order with the same verdicts.\u001b[8m`;

const inBlock = (place: number, change: Json) =>
  inJson(PROPOSAL, ({ blocks }) => void Object.assign(blocks[place], change));

const asHornet = withField(INFO, 'name', 'HORNET');

export const EXPLAIN_LIES: readonly ExplainLie[] = [
  {
    name: 'a verdict',
    rules: [inBlock(3, { ledgerInclusionState: 'conflicting', conflictReason: 1 })],
    prints: /at place 3 of the white-flag order/,
  },
  {
    name: 'two blocks that change places',
    rules: [inJson(PROPOSAL, ({ blocks }) => void blocks.splice(5, 2, blocks[6], blocks[5]))],
    prints: /at place 5 of the white-flag order/,
  },
  {
    name: 'a block left out',
    rules: [inJson(PROPOSAL, ({ blocks }) => void blocks.pop())],
    prints: /Only ours has a block there/,
  },
  {
    name: 'another index',
    rules: [withField(PROPOSAL, 'index', 99_999)],
    prints: /^These are two milestones: ours 17339, theirs 99999\.$/m,
  },
  {
    name: 'a root',
    rules: [withField(PROPOSAL, 'appliedMerkleRoot', MADE_UP)],
    prints: /appliedMerkleRoot: ours 0x9c04.*, theirs 0xabab/,
  },
  {
    name: 'a verdict with escape sequences',
    rules: [
      inBlock(3, { ledgerInclusionState: 'conflicting', conflictReason: 1, explanation: SAME }),
    ],
    prints: /\\u\{1b\}\[2J/,
  },
  {
    name: 'a rule of 100,000 characters',
    rules: [
      inBlock(3, {
        ledgerInclusionState: 'conflicting',
        conflictReason: 1,
        rule: 'S'.repeat(100_000),
      }),
    ],
    prints: /at place 3/,
  },
  {
    name: 'a block ID from right to left, over several lines',
    rules: [inBlock(0, { blockId: `${NOTHING}\u202e\n\nThe same` })],
    prints: /place 0|Not checked/,
  },
  {
    name: 'a HORNET’s name with escape sequences',
    rules: [
      inJson(INFO, (json) => {
        json.name = SAME;
        json.status.confirmedMilestone.index = 5;
      }),
    ],
    prints: /milestone 5/,
  },
  {
    name: 'a HORNET with all blocks at one place',
    rules: [asHornet, withField(ANY_METADATA, 'whiteFlagIndex', (place: number) => +!place)],
    prints: /place|Not checked/,
  },
  ...[30_000_000, 4_294_967_294, 2 ** 53, -1, 1.5].map((place) => ({
    name: `a HORNET with blocks at place ${place}`,
    rules: [asHornet, withField(ANY_METADATA, 'whiteFlagIndex', place)],
    prints: /place|Not checked/,
  })),
  {
    name: 'a HORNET whose roots are no roots',
    rules: [asHornet, withField(MILESTONE, 'inclusionMerkleRoot', SAME)],
    prints: /\S/,
  },
  { name: 'no explanation', rules: [withStatus(PROPOSAL, 404)], prints: /404/ },
  { name: 'an explanation without an end', rules: [endless(PROPOSAL)], prints: /\S/ },
  {
    name: 'eight million zeros in place of blocks',
    rules: [inText(PROPOSAL, zerosForBlocks)],
    prints: /Not checked: /,
  },
  { name: 'an explanation that never comes', rules: [never(PROPOSAL)], prints: /\S/, waits: true },
  { name: 'an empty answer', rules: [always(PROPOSAL, () => '')], prints: /\S/ },
];
