/**
 * Lies that are told while the visitor lets the page verify the node.
 */

import { forgedBytes, forgedInJson } from './forged.ts';
import { type Lie, lie, onPage } from './lie.ts';
import {
  always,
  asIfAsked,
  endless,
  flip,
  inBytes,
  inJson,
  never,
  withField,
  withStatus,
} from './rules.ts';
import {
  ANY_BLOCK,
  ANY_MILESTONE,
  ANY_PROOF,
  DATA_BLOCK,
  EXPLANATION,
  INFO,
  MADE_UP,
  MILESTONE,
  MILESTONE_BLOCK,
  pathOfBlock,
  WHITE_FLAG,
} from './sample-paths.ts';

/** The first readings of info name a milestone to come, the later ones the true one. */
function firstAhead(readings: number) {
  let left = readings;
  return inJson(INFO, (json) => {
    json.status.isHealthy = true;
    json.status.confirmedMilestone.timestamp = Math.floor(Date.now() / 1000) - 5;
    if (left-- > 0) json.status.confirmedMilestone.index = 99_999;
  });
}

const FALSE = { refuted: /^False: /m };
const MISSING = { notChecked: /^Not checked: .*status 404/m };

export const VERIFY_LIES: readonly Lie[] = onPage('#/verify', [
  lie('info far ahead, then true', firstAhead(1), {
    shows: /Verified: milestone 17,?339 of 28 Sept 2022/,
    hides: /\blive\b|See milestone 99/,
  }),
  lie(
    'info with the time of now',
    withField(INFO, 'status.confirmedMilestone.timestamp', () => Math.floor(Date.now() / 1000) - 5),
    { shows: /Verified: milestone 17,?339 .*years old/, hides: /\blive\b/ },
  ),
  lie('a white flag that is read off the milestone', asIfAsked(WHITE_FLAG, MILESTONE), {
    shows: /the node answers the signed roots/,
  }),
  lie('a root of the white flag', withField(WHITE_FLAG, 'appliedMerkleRoot', MADE_UP), FALSE),
  lie('no white flag', withStatus(WHITE_FLAG, 503), {
    notChecked: /^Not checked: .*whiteflag: status 503/m,
  }),
  lie('a forged cone, to verify', [...forgedInJson, forgedBytes()], FALSE),
  lie('a forged cone signed by strangers, to verify', [...forgedInJson, forgedBytes(10)], FALSE),
  lie('a bit of a block, to verify', inBytes(pathOfBlock(DATA_BLOCK), flip(-1)), FALSE),
  lie(
    'another block, to verify',
    asIfAsked(pathOfBlock(DATA_BLOCK), pathOfBlock(MILESTONE_BLOCK)),
    FALSE,
  ),
  lie('an empty cone, to verify', withField(EXPLANATION, 'blocks', []), FALSE),
  lie('no proof, to verify', withStatus(ANY_PROOF, 404), MISSING),
  lie('no blocks, to verify', withStatus(ANY_BLOCK, 404), MISSING),
  lie('no milestone, to verify', withStatus(ANY_MILESTONE, 404), MISSING),
  lie('no cone, to verify', withStatus(EXPLANATION, 404), { notChecked: /^Not checked: /m }),
  lie(
    'a proof of nothing, to verify',
    always(ANY_PROOF, () => ({ proof: {} })),
    { refuted: /not a JSON object/ },
  ),
  lie('blocks that never come, to verify', never(ANY_BLOCK), {
    notChecked: /^Not checked: .* within 30 seconds/m,
    waits: true,
  }),
  lie('a white flag without an end', endless(WHITE_FLAG), {
    notChecked: /^Not checked: .* without end/m,
  }),
]);
