/**
 * GET /api/edge/v1/blocks/:blockId/proof: that a block belongs to a milestone (TIP-0004), in the
 * shape of the inx-poi plug-in.
 *
 * `appliedProof` is there where the block's transaction was applied, and leads to the milestone's
 * applied root.
 */
import type { BlockProof } from '../../../node/edge-node.ts';
import { HASH_BYTES, hashLeaves } from '../../../stardust/proof/merkle.ts';
import { type Proof, proofFor } from '../../../stardust/proof/proof.ts';
import { type Answer, jsonAnswer } from '../../answer.ts';
import type { RouteContext } from '../../route.ts';
import { inclusionToJson, readProof } from './poi.ts';

export async function answerProof(context: RouteContext): Promise<Answer> {
  const parts = await readProof(context);
  const leafHashes = hashLeaves(parts.included);
  const appliedProof = proveApplied(parts, leafHashes);
  return jsonAnswer({
    ...inclusionToJson(parts, leafHashes),
    ...(appliedProof && { appliedProof }),
  });
}

function proveApplied(
  { included, position, applied }: BlockProof,
  leafHashes: Uint8Array,
): Proof | undefined {
  const place = applied.indexOf(position);
  if (place === -1) return undefined;
  const hashes = new Uint8Array(applied.length * HASH_BYTES);
  for (const [i, at] of applied.entries()) {
    hashes.set(leafHashes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES), i * HASH_BYTES);
  }
  const ids = applied.map((at) => included[at]!);
  return proofFor(ids, place, hashes);
}
