/**
 * GET /api/edge/v1/blocks/:blockId/proof: that a block belongs to a milestone (TIP-0004), in the
 * shape of the inx-poi plug-in.
 *
 * `appliedProof` is there where the block's transaction was applied, and leads to the milestone's
 * applied root.
 */
import { proofFor } from '../stardust/proof.ts';
import { inclusionToJson, readProof } from './poi.ts';
import { type Answer, jsonAnswer, type RouteContext } from './route.ts';

export async function answerProof(context: RouteContext): Promise<Answer> {
  const parts = await readProof(context);
  return jsonAnswer({
    ...inclusionToJson(parts),
    ...(parts.appliedPosition !== undefined && {
      appliedProof: proofFor(parts.applied, parts.appliedPosition),
    }),
  });
}
