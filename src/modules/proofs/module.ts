/** Explanations of the white flag, and proofs that a milestone references a block. */
import type { Operations } from '../../http/openapi/operation.ts';
import type { Module } from '../module.ts';
import { objects } from '../objects/module.ts';
import { blockProofRoutes, describeBlockProof } from './routes/block-proof.ts';
import {
  describeMilestoneExplanation,
  milestoneExplanationRoutes,
} from './routes/milestone-explanation.ts';
import { describePoi, poiRoutes } from './routes/poi.ts';
import {
  describeWhiteFlagExplanation,
  whiteFlagExplanationRoutes,
} from './routes/white-flag-explanation.ts';

const routes = {
  ...whiteFlagExplanationRoutes,
  ...milestoneExplanationRoutes,
  ...poiRoutes,
  ...blockProofRoutes,
};

export const proofs: Module = { name: 'proofs', needs: [objects], routes };

export const describeProofs = (): Operations<typeof routes> => ({
  ...describeWhiteFlagExplanation(),
  ...describeMilestoneExplanation(),
  ...describePoi(),
  ...describeBlockProof(),
});
