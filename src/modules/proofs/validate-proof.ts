/** Judges inx-poi proofs by the settings' keys alone (docs/contract.md#proofs-of-inx-poi). */
import { verifySignature } from '../../platform/verify-signature.ts';
import { encode } from '../../stardust/encoding/codec.ts';
import { asObject } from '../../stardust/encoding/json-object.ts';
import { StardustError } from '../../stardust/error.ts';
import { blockFromJson, milestoneFromJson } from '../../stardust/json/rest-json.ts';
import type { MilestoneKeys } from '../../stardust/milestone-keys.ts';
import { parseProof, verifyInclusion } from '../../stardust/proof/proof.ts';
import { block as anyBlock } from '../../stardust/wire/block.ts';
import { milestone as milestonePayload } from '../../stardust/wire/milestone.ts';

/** `malformed`: there is no proof in it. The reason is for people: ASCII. */
export type ProofJudgement = { kind: 'valid' } | { kind: 'invalid' | 'malformed'; reason: string };

/** @param file `{milestone, block, proof}` as JSON; other fields are ignored */
export async function validateProof(
  { milestone, block, proof }: Readonly<Record<string, unknown>>,
  keys: MilestoneKeys,
): Promise<ProofJudgement> {
  let kind: 'invalid' | 'malformed' = 'malformed';
  try {
    encode(milestonePayload, milestoneFromJson(milestone));
    encode(anyBlock, blockFromJson(block));
    parseProof(asObject(proof));
    kind = 'invalid';
    await verifyInclusion({ milestone, block, proof }, keys, verifySignature);
    return { kind: 'valid' };
  } catch (error) {
    if (error instanceof StardustError) return { kind, reason: error.reason };
    throw error;
  }
}
