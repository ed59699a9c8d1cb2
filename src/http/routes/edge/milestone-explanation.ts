/**
 * GET /api/edge/v1/whiteflag/:milestoneIndex: the blocks of an applied milestone in white-flag
 * order, and what became of each, by the states of TIP-25.
 */
import type { ExplainedBlock } from '../../../node/edge-node.ts';
import { inclusionStateToJson } from '../../../stardust/json/rest-json.ts';
import { describeReason } from '../../../stardust/semantics/verdict.ts';
import { type Answer, jsonAnswer } from '../../answer.ts';
import { UnknownHere } from '../../errors.ts';
import {
  arrayOf,
  choiceOf,
  described,
  hashSchema,
  milestoneIndexSchema,
  named,
  objectOf,
  textSchema,
  uint32Schema,
  unixTimeSchema,
} from '../../openapi/json-schema.ts';
import { inPath, type Operations, type RouteTable } from '../../openapi/operation.ts';
import type { RouteContext } from '../../route.ts';
import { MilestoneIndex, parseMilestoneIndex } from '../../schemas.ts';
import { conflictReasonSchema, ledgerInclusionStateSchema } from '../core/blocks.ts';

export const milestoneExplanationRoutes = {
  explainMilestone: {
    method: 'GET',
    path: '/api/edge/v1/whiteflag/:milestoneIndex',
    keep: 'import',
    limit: 'scanLimit',
    handle: answerExplanation,
  },
} satisfies RouteTable;

async function answerExplanation({ params, node }: RouteContext): Promise<Answer> {
  const index = parseMilestoneIndex(params.milestoneIndex, 'the milestone index');
  const milestone = await node.explainMilestone(index);
  if (milestone === undefined)
    throw new UnknownHere('this milestone was not applied here, or is pruned');
  return jsonAnswer({
    index: milestone.index,
    timestamp: milestone.timestamp,
    milestoneId: `0x${milestone.milestoneId}`,
    inclusionMerkleRoot: `0x${milestone.inclusionMerkleRoot}`,
    appliedMerkleRoot: `0x${milestone.appliedMerkleRoot}`,
    blocks: milestone.blocks.map(explainBlock),
  });
}

/** `reason`: undefined where the block carries no transaction. */
export function explainBlock({ blockId, payload, reason }: ExplainedBlock, whiteFlagIndex: number) {
  return {
    blockId: `0x${blockId}`,
    whiteFlagIndex,
    payload,
    ...inclusionStateToJson(reason),
    ...(reason && { explanation: describeReason(reason) }),
  };
}

export function explainedBlockFields() {
  return {
    required: {
      blockId: hashSchema,
      whiteFlagIndex: described('Its place in the white-flag order.', uint32Schema),
      payload: choiceOf('none', 'transaction', 'milestone', 'taggedData'),
      ledgerInclusionState: ledgerInclusionStateSchema,
    },
    optional: {
      conflictReason: conflictReasonSchema,
      explanation: described('The reason in words.', textSchema),
    },
  };
}

export function describeMilestoneExplanation(): Operations<typeof milestoneExplanationRoutes> {
  const { required, optional } = explainedBlockFields();
  return {
    explainMilestone: {
      tag: 'edge',
      summary: 'The blocks of an applied milestone in white-flag order, with the verdict on each',
      parameters: [inPath('milestoneIndex', MilestoneIndex, 'Milestone index.')],
      answer: {
        description: 'The milestone.',
        schema: named(
          'ExplainedMilestone',
          objectOf({
            index: milestoneIndexSchema,
            timestamp: unixTimeSchema,
            milestoneId: hashSchema,
            inclusionMerkleRoot: hashSchema,
            appliedMerkleRoot: hashSchema,
            blocks: described(
              'In white-flag order.',
              arrayOf(named('ExplainedBlock', objectOf(required, optional))),
            ),
          }),
        ),
      },
      errors: [400, 404],
      example: { path: '/api/edge/v1/whiteflag/17339' },
    },
  };
}
