/**
 * GET /api/edge/v1/whiteflag/:milestoneIndex: the blocks of an applied milestone in white-flag
 * order, and what became of each, in words.
 *
 * The states are those that TIP-25 gives the metadata of blocks.
 */

import type { ExplainedBlock } from '../../../node/edge-node.ts';
import { describeReason } from '../../../stardust/semantics/conflict-reason.ts';
import { type Answer, jsonAnswer } from '../../answer.ts';
import { HttpError } from '../../errors.ts';
import type { RouteContext } from '../../route.ts';
import { parseMilestoneIndex } from '../../schemas.ts';
import { inclusionOf } from '../core/blocks.ts';

export async function answerExplanation({ params, node }: RouteContext): Promise<Answer> {
  const index = parseMilestoneIndex(params.milestoneIndex, 'the milestone index');
  const milestone = await node.explainMilestone(index);
  if (milestone === undefined)
    throw new HttpError(404, 'this milestone was not applied here, or is pruned');
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
    ...inclusionOf(reason),
    ...(reason && { explanation: describeReason(reason) }),
  };
}
