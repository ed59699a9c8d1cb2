/**
 * The routes of the plug-in inx-poi 1.0.0-rc.1 (https://github.com/iotaledger/inx-poi): GET
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
import { IMMUTABLE } from '../../content-negotiation.ts';
import { HttpError } from '../../errors.ts';
import type { RouteContext } from '../../route.ts';
import { Id, parseId } from '../../schemas.ts';

/** A block of 32 KB is some 130 KB of JSON at most, a milestone less. */
const MAX_PROOF_BYTES = 512 * 1024;

export async function answerCreateProof(context: RouteContext): Promise<Answer> {
  return jsonAnswer(inclusionToJson(await readProof(context)), IMMUTABLE);
}

export async function answerValidateProof({ request, node }: RouteContext): Promise<Answer> {
  const judgement = await node.validateProof(await readJsonObject(request, MAX_PROOF_BYTES));
  if (judgement === undefined)
    throw new HttpError(500, 'the settings of this node name no keys that sign milestones');
  if (judgement.kind === 'malformed') throw new HttpError(400, judgement.reason);
  return jsonAnswer({ valid: judgement.kind === 'valid' });
}

export async function readProof({ params, node }: RouteContext): Promise<BlockProof> {
  const proof = await node.proveBlock(parseId(Id, params.blockId, 'the block ID'));
  if (proof === undefined)
    throw new HttpError(404, 'no applied milestone references this block, or its bytes are pruned');
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
