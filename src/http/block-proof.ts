/**
 * GET /api/edge/v1/blocks/:blockId/proof: that a block belongs to a milestone (TIP-0004), in the
 * shape of the inx-poi plug-in.
 *
 * `appliedProof` is there where the block's transaction was applied, and leads to the milestone's
 * applied root.
 */
import { block } from '../stardust/block.ts';
import { Reader } from '../stardust/bytes.ts';
import { decode } from '../stardust/codec.ts';
import { milestone } from '../stardust/milestone.ts';
import { proofFor } from '../stardust/proof.ts';
import { blockToJson, milestoneToJson } from '../stardust/rest-json.ts';
import { HttpError } from './errors.ts';
import { type Answer, jsonAnswer, type RouteContext } from './route.ts';
import { Id, parseId } from './schemas.ts';

export async function answerProof({ params, node }: RouteContext): Promise<Answer> {
  const parts = await node.proveBlock(parseId(Id, params.blockId, 'the block ID'));
  if (parts === undefined)
    throw new HttpError(404, 'no applied milestone references this block, or its bytes are pruned');
  const proven = decode(block, new Reader(parts.block));
  return jsonAnswer({
    milestone: milestoneToJson(decode(milestone, new Reader(parts.milestone))),
    block: blockToJson(proven),
    proof: proofFor(parts.included, parts.position),
    ...(parts.appliedPosition !== undefined && {
      appliedProof: proofFor(parts.applied, parts.appliedPosition),
    }),
  });
}
