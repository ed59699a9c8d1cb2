/**
 * GET /api/edge/v1/whiteflag/:milestoneIndex: the blocks of an applied milestone in white-flag
 * order, and what became of each, by the states of TIP-25.
 */
import { type Answer, jsonAnswer } from '../../../http/answer.ts';
import { UnknownHere } from '../../../http/errors.ts';
import * as json from '../../../http/openapi/json-schema.ts';
import { inPath, type Operations } from '../../../http/openapi/operation.ts';
import { MilestoneIndex, parseMilestoneIndex } from '../../../http/request.ts';
import type { RouteContext, RouteTable } from '../../../http/route.ts';
import { inclusionStateToJson } from '../../../stardust/json/rest-json.ts';
import { describeReason } from '../../../stardust/semantics/verdict.ts';
import { conflictReasonSchema, ledgerInclusionStateSchema } from '../../objects/routes/blocks.ts';
import { type ExplainedBlock, explainMilestone } from '../applied-milestone.ts';

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
  const milestone = await explainMilestone(node.session(), index);
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
      blockId: json.hashSchema,
      whiteFlagIndex: json.described('Its place in the white-flag order.', json.uint32Schema),
      payload: json.choiceOf('none', 'transaction', 'milestone', 'taggedData'),
      ledgerInclusionState: ledgerInclusionStateSchema,
    },
    optional: {
      conflictReason: conflictReasonSchema,
      explanation: json.described('The reason in words.', json.textSchema),
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
        schema: json.namedObject('ExplainedMilestone', {
          index: json.milestoneIndexSchema,
          timestamp: json.unixTimeSchema,
          milestoneId: json.hashSchema,
          inclusionMerkleRoot: json.hashSchema,
          appliedMerkleRoot: json.hashSchema,
          blocks: json.described(
            'In white-flag order.',
            json.arrayOf(json.namedObject('ExplainedBlock', required, optional)),
          ),
        }),
      },
      errors: [400, 404],
      example: '/api/edge/v1/whiteflag/17339',
    },
  };
}
