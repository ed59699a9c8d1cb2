/**
 * GET /api/edge/v1/blocks/:blockId/proof: a block belongs to a milestone (TIP-0004), in the shape
 * of inx-poi. `appliedProof`, to the applied root, is there if its transaction was applied.
 */
import { type Answer, jsonAnswer } from '../../../http/answer.ts';
import * as json from '../../../http/openapi/json-schema.ts';
import { inPath, type Operations } from '../../../http/openapi/operation.ts';
import { Id } from '../../../http/request.ts';
import type { RouteContext, RouteTable } from '../../../http/route.ts';
import { pathToApplied } from '../applied-milestone.ts';
import { auditPathSchema, inclusionFields, inclusionToJson, readProof } from './poi.ts';

export const blockProofRoutes = {
  proveBlock: {
    method: 'GET',
    path: '/api/edge/v1/blocks/:blockId/proof',
    limit: 'scanLimit',
    handle: answerProof,
  },
} satisfies RouteTable;

async function answerProof(context: RouteContext): Promise<Answer> {
  const parts = await readProof(context);
  const appliedProof = await pathToApplied(parts);
  return jsonAnswer({ ...(await inclusionToJson(parts)), ...(appliedProof && { appliedProof }) });
}

export const describeBlockProof = (): Operations<typeof blockProofRoutes> => ({
  proveBlock: {
    tag: 'proof',
    summary: 'The proof that a block belongs to a milestone, by its signed inclusion root',
    parameters: [inPath('blockId', Id, 'Block ID, 32 bytes.')],
    answer: {
      description: 'Milestone, block and path.',
      schema: json.namedObject('BlockProof', inclusionFields(), {
        appliedProof: json.described(
          'Present if the transaction was applied: the path to the applied root.',
          auditPathSchema,
        ),
      }),
    },
    errors: [400, 404],
    example:
      '/api/edge/v1/blocks/0xf2174f3af8c862ba7b099c9ce56ecb5146c200521a8dbba9b0389ae645b10f1d/proof',
  },
});
