/**
 * Lies that are told while the visitor lets the page verify the node.
 */

import { forgedBytes, forgedInJson } from './forged.ts';
import type { Lie } from './lie.ts';
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

export const VERIFY_LIES: readonly Lie[] = [
  {
    name: 'info far ahead, then true',
    shows: /Verified: milestone 17,?339 of 28 Sept 2022/,
    hides: /\blive\b|See milestone 99/,
    rules: [firstAhead(1)],
  },
  {
    name: 'info with the time of now',
    shows: /Verified: milestone 17,?339 .*years old/,
    hides: /\blive\b/,
    rules: [
      withField(
        INFO,
        'status.confirmedMilestone.timestamp',
        () => Math.floor(Date.now() / 1000) - 5,
      ),
    ],
  },
  {
    name: 'a white flag that is read off the milestone',
    shows: /the node answers the signed roots/,
    rules: [asIfAsked(WHITE_FLAG, MILESTONE)],
  },
  {
    name: 'a root of the white flag',
    refuted: /^False: /m,
    rules: [withField(WHITE_FLAG, 'appliedMerkleRoot', MADE_UP)],
  },
  {
    name: 'no white flag',
    notChecked: /^Not checked: .*whiteflag: status 503/m,
    rules: [withStatus(WHITE_FLAG, 503)],
  },
  {
    name: 'a forged cone, to verify',
    refuted: /^False: /m,
    rules: [...forgedInJson, forgedBytes()],
  },
  {
    name: 'a forged cone signed by strangers, to verify',
    refuted: /^False: /m,
    rules: [...forgedInJson, forgedBytes(10)],
  },
  {
    name: 'a bit of a block, to verify',
    refuted: /^False: /m,
    rules: [inBytes(pathOfBlock(DATA_BLOCK), flip(-1))],
  },
  {
    name: 'another block, to verify',
    refuted: /^False: /m,
    rules: [asIfAsked(pathOfBlock(DATA_BLOCK), pathOfBlock(MILESTONE_BLOCK))],
  },
  {
    name: 'an empty cone, to verify',
    refuted: /^False: /m,
    rules: [withField(EXPLANATION, 'blocks', [])],
  },
  {
    name: 'no proof, to verify',
    notChecked: /^Not checked: .*status 404/m,
    rules: [withStatus(ANY_PROOF, 404)],
  },
  {
    name: 'no blocks, to verify',
    notChecked: /^Not checked: .*status 404/m,
    rules: [withStatus(ANY_BLOCK, 404)],
  },
  {
    name: 'no milestone, to verify',
    notChecked: /^Not checked: .*status 404/m,
    rules: [withStatus(ANY_MILESTONE, 404)],
  },
  {
    name: 'no cone, to verify',
    notChecked: /^Not checked: /m,
    rules: [withStatus(EXPLANATION, 404)],
  },
  {
    name: 'a proof of nothing, to verify',
    refuted: /not a JSON object/,
    rules: [always(ANY_PROOF, () => ({ proof: {} }))],
  },
  {
    name: 'blocks that never come, to verify',
    notChecked: /^Not checked: .* within 30 seconds/m,
    rules: [never(ANY_BLOCK)],
    waits: true as const,
  },
  {
    name: 'a white flag without an end',
    notChecked: /^Not checked: .* without end/m,
    rules: [endless(WHITE_FLAG)],
  },
].map((lie) => ({ page: '#/verify', ...lie }));
