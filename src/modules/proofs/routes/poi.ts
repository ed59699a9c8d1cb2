/**
 * Routes of the plug-in inx-poi 1.0.0-rc.1 (https://github.com/iotaledger/inx-poi): GET
 * /api/poi/v1/create/:blockId and POST /api/poi/v1/validate (docs/contract.md#proofs-of-inx-poi).
 */
import { type Answer, jsonAnswer } from '../../../http/answer.ts';
import { HttpError, UnknownHere } from '../../../http/errors.ts';
import * as json from '../../../http/openapi/json-schema.ts';
import { inPath, type Operations } from '../../../http/openapi/operation.ts';
import { Id, parseId, readJsonObject } from '../../../http/request.ts';
import type { RouteContext, RouteTable } from '../../../http/route.ts';
import { verifySignature } from '../../../platform/verify-signature.ts';
import { decode, encode } from '../../../stardust/encoding/codec.ts';
import { asObject } from '../../../stardust/encoding/json-object.ts';
import { caughtRefusal } from '../../../stardust/error.ts';
import {
  blockFromJson,
  blockToJson,
  milestoneFromJson,
  milestoneToJson,
} from '../../../stardust/json/rest-json.ts';
import type { MilestoneKeys } from '../../../stardust/milestone-keys.ts';
import { parseProof, verifyInclusion } from '../../../stardust/proof/proof.ts';
import { block as anyBlock, block } from '../../../stardust/wire/block.ts';
import { decodeMilestone } from '../../../stardust/wire/decode-milestone.ts';
import { milestone as milestonePayload } from '../../../stardust/wire/milestone.ts';
import { blockSchema, milestonePayloadSchema } from '../../objects/block-schemas.ts';
import { type BlockProof, makeProof, proveBlock, requireRoot } from '../applied-milestone.ts';

export const poiRoutes = {
  createProof: {
    method: 'GET',
    path: '/api/poi/v1/create/:blockId',
    keep: 'index',
    limit: 'scanLimit',
    handle: async (context) => jsonAnswer(await inclusionToJson(await readProof(context))),
  },
  validateProof: {
    method: 'POST',
    path: '/api/poi/v1/validate',
    keep: 'never',
    handle: answerValidateProof,
  },
} satisfies RouteTable;

/** A block of 32 KB is some 130 KB of JSON and 6,000 values at most, a milestone less. */
const MAX_PROOF_BYTES = 512 * 1024;
const MAX_PROOF_VALUES = 20_000;

async function answerValidateProof({ request, settings }: RouteContext): Promise<Answer> {
  const { milestoneKeys } = settings;
  const limits = { maxBytes: MAX_PROOF_BYTES, maxValues: MAX_PROOF_VALUES };
  const file = await readJsonObject(request, limits);
  if (milestoneKeys === undefined)
    throw new HttpError(500, 'the settings of this node name no keys that sign milestones');
  return jsonAnswer({ valid: await isValid(file, milestoneKeys) });
}

export async function readProof({ params, node }: RouteContext): Promise<BlockProof> {
  const proof = await proveBlock(node.session(), parseId(Id, params.blockId, 'the block ID'));
  if (proof === undefined)
    throw new UnknownHere('no applied milestone references this block, or its bytes are pruned');
  return proof;
}

/** Milestone, block, and the way from the one to the other, which is checked. */
export async function inclusionToJson(parts: BlockProof) {
  const { value: signed } = decodeMilestone(parts.milestone);
  const proof = await makeProof(parts.included, parts.position);
  requireRoot(parts, proof, signed.inclusionMerkleRoot);
  const value = decode(block, parts.block);
  return { milestone: milestoneToJson(signed), block: blockToJson(value), proof };
}

const auditLeafSchema = /* @__PURE__ */ json.named('AuditPathLeaf', () =>
  json.objectOf({ value: json.hashSchema }),
);

const auditNodeSchema: json.JsonSchema = /* @__PURE__ */ json.named('AuditPathNode', () => {
  const sibling = json.namedObject('AuditPathSibling', { h: json.hashSchema });
  const child = json.oneOf(auditLeafSchema, auditNodeSchema, sibling);
  return json.objectOf({ l: child, r: child });
});

/** The path of a proof for openapi.json. */
export const auditPathSchema: json.JsonSchema = /* @__PURE__ */ json.named('AuditPath', () =>
  json.described(
    'The Merkle tree, reduced to the path to one block ID.',
    json.oneOf(auditNodeSchema, json.namedObject('AuditPathOfOne', { l: auditLeafSchema })),
  ),
);

export function inclusionFields() {
  return { milestone: milestonePayloadSchema, block: blockSchema, proof: auditPathSchema };
}

export function describePoi(): Operations<typeof poiRoutes> {
  const inclusion = json.namedObject('InclusionProof', inclusionFields());
  return {
    createProof: {
      tag: 'proof',
      summary: 'The proof that a milestone references a block, as inx-poi gives it',
      parameters: [inPath('blockId', Id, 'Block ID, 32 bytes.')],
      answer: { description: 'Milestone, block and path.', schema: inclusion },
      errors: [400, 404],
      example:
        '/api/poi/v1/create/0xabbe8683ba4b93629c847766b90ab6dcb0e0b78977eb8a4b48b66965256c98e1',
    },
    validateProof: {
      tag: 'proof',
      summary: 'Whether such a proof holds, by the keys of the settings',
      body: inclusion,
      answer: {
        description: 'The verdict.',
        schema: json.namedObject('ProofVerdict', { valid: json.flagSchema }),
      },
      errors: [400],
    },
  };
}

/**
 * Throws an HttpError 400 if there is no proof in it.
 *
 * @param file `{milestone, block, proof}` as JSON; other fields are ignored
 */
async function isValid(
  { milestone, block, proof }: Readonly<Record<string, unknown>>,
  keys: MilestoneKeys,
): Promise<boolean> {
  let isProof = false;
  try {
    encode(milestonePayload, milestoneFromJson(milestone));
    encode(anyBlock, blockFromJson(block));
    parseProof(asObject(proof));
    isProof = true;
    await verifyInclusion({ milestone, block, proof }, keys, verifySignature);
    return true;
  } catch (error) {
    const { reason } = caughtRefusal(error);
    if (isProof) return false;
    throw new HttpError(400, reason);
  }
}
