/**
 * Routes of the plug-in inx-poi 1.0.0-rc.1 (https://github.com/iotaledger/inx-poi): GET
 * /api/poi/v1/create/:blockId and POST /api/poi/v1/validate (docs/contract.md#proofs-of-inx-poi).
 */
import type { BlockProof } from '../../../node/edge-node.ts';
import { Reader } from '../../../stardust/encoding/bytes.ts';
import { decode } from '../../../stardust/encoding/codec.ts';
import { blockToJson, milestoneToJson } from '../../../stardust/json/rest-json.ts';
import { hashLeaves } from '../../../stardust/proof/merkle.ts';
import { proofFor } from '../../../stardust/proof/proof.ts';
import { block } from '../../../stardust/wire/block.ts';
import { milestone } from '../../../stardust/wire/milestone.ts';
import { type Answer, jsonAnswer } from '../../answer.ts';
import { readJsonObject } from '../../body.ts';
import { HttpError, UnknownHere } from '../../errors.ts';
import { blockSchema, milestonePayloadSchema } from '../../openapi/block-schemas.ts';
import {
  described,
  flagSchema,
  hashSchema,
  type JsonSchema,
  named,
  objectOf,
  oneOf,
} from '../../openapi/json-schema.ts';
import { inPath, type Operations, type RouteTable } from '../../openapi/operation.ts';
import type { RouteContext } from '../../route.ts';
import { Id, parseId } from '../../schemas.ts';

export const poiRoutes = {
  createProof: {
    method: 'GET',
    path: '/api/poi/v1/create/:blockId',
    keep: 'id',
    limit: 'scanLimit',
    handle: answerCreateProof,
  },
  validateProof: {
    method: 'POST',
    path: '/api/poi/v1/validate',
    keep: 'never',
    handle: answerValidateProof,
  },
} satisfies RouteTable;

/** A block of 32 KB is some 130 KB of JSON at most, a milestone less. */
const MAX_PROOF_BYTES = 512 * 1024;

async function answerCreateProof(context: RouteContext): Promise<Answer> {
  return jsonAnswer(inclusionToJson(await readProof(context)));
}

async function answerValidateProof({ request, node }: RouteContext): Promise<Answer> {
  const file = await readJsonObject(request, { maxBytes: MAX_PROOF_BYTES });
  const judgement = await node.validateProof(file);
  if (judgement === undefined)
    throw new HttpError(500, 'the settings of this node name no keys that sign milestones');
  if (judgement.kind === 'malformed') throw new HttpError(400, judgement.reason);
  return jsonAnswer({ valid: judgement.kind === 'valid' });
}

export async function readProof({ params, node }: RouteContext): Promise<BlockProof> {
  const proof = await node.proveBlock(parseId(Id, params.blockId, 'the block ID'));
  if (proof === undefined)
    throw new UnknownHere('no applied milestone references this block, or its bytes are pruned');
  return proof;
}

/** Milestone, block, and the way from the one to the other. */
export function inclusionToJson(
  { milestone: payload, block: bytes, included, position }: BlockProof,
  leafHashes = hashLeaves(included),
) {
  return {
    milestone: milestoneToJson(decode(milestone, new Reader(payload))),
    block: blockToJson(decode(block, new Reader(bytes))),
    proof: proofFor(included, position, leafHashes),
  };
}

const auditLeafSchema = /* @__PURE__ */ named('AuditPathLeaf', () =>
  objectOf({ value: hashSchema }),
);

const auditNodeSchema: JsonSchema = /* @__PURE__ */ named('AuditPathNode', () => {
  const sibling = named('AuditPathSibling', objectOf({ h: hashSchema }));
  const child = oneOf(auditLeafSchema, auditNodeSchema, sibling);
  return objectOf({ l: child, r: child });
});

/** The path of a proof for openapi.json. */
export const auditPathSchema: JsonSchema = /* @__PURE__ */ named('AuditPath', () =>
  described(
    'The Merkle tree, reduced to the path to one block ID.',
    oneOf(auditNodeSchema, named('AuditPathOfOne', objectOf({ l: auditLeafSchema }))),
  ),
);

export function inclusionFields() {
  return { milestone: milestonePayloadSchema, block: blockSchema, proof: auditPathSchema };
}

export function describePoi(): Operations<typeof poiRoutes> {
  const inclusion = named('InclusionProof', objectOf(inclusionFields()));
  return {
    createProof: {
      tag: 'proof',
      summary: 'The proof that a milestone references a block, as inx-poi gives it',
      parameters: [inPath('blockId', Id, 'Block ID, 32 bytes.')],
      answer: { description: 'Milestone, block and path.', schema: inclusion },
      errors: [400, 404],
      example: {
        path: '/api/poi/v1/create/0xabbe8683ba4b93629c847766b90ab6dcb0e0b78977eb8a4b48b66965256c98e1',
      },
    },
    validateProof: {
      tag: 'proof',
      summary: 'Whether such a proof holds, by the keys of the settings',
      body: inclusion,
      answer: {
        description: 'The verdict.',
        schema: named('ProofVerdict', objectOf({ valid: flagSchema })),
      },
      errors: [400],
    },
  };
}
