/**
 * Whether a proof of inclusion holds, by the keys of the settings alone
 * (docs/contract.md#proofs-of-inx-poi): nothing of the ledger is read.
 */
import { Refusal } from '../stardust/encoding/bytes.ts';
import { encode } from '../stardust/encoding/codec.ts';
import { asObject, BadJson } from '../stardust/encoding/json-object.ts';
import { blockFromJson, milestoneFromJson } from '../stardust/json/read-rest-json.ts';
import type { MilestoneKeys } from '../stardust/milestone-keys.ts';
import { parseProof, verifyProofFile } from '../stardust/proof/proof.ts';
import { proofFileReaders } from '../stardust/proof/proof-file.ts';
import { block as anyBlock } from '../stardust/wire/block.ts';
import { milestone as milestonePayload } from '../stardust/wire/milestone.ts';
import { verifySignature } from '../verify-signature.ts';

/** `malformed`: there is no proof in it. The reason is for people: ASCII. */
export type ProofJudgement = { kind: 'valid' } | { kind: 'invalid' | 'malformed'; reason: string };

/** @param file `{milestone, block, proof}` as JSON; other fields are ignored */
export async function validateProof(
  { milestone, block, proof }: Readonly<Record<string, unknown>>,
  keys: MilestoneKeys,
): Promise<ProofJudgement> {
  try {
    encode(milestonePayload, milestoneFromJson(milestone));
    encode(anyBlock, blockFromJson(block));
    parseProof(asObject(proof));
  } catch (error) {
    if (error instanceof BadJson || error instanceof Refusal)
      return { kind: 'malformed', reason: error.message };
    throw error;
  }
  const readers = proofFileReaders(() => keys, verifySignature);
  const verdict = await verifyProofFile({ milestone, block, proof }, readers);
  return verdict.ok ? { kind: 'valid' } : { kind: 'invalid', reason: verdict.reason };
}
