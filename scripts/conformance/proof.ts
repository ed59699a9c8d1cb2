/**
 * Proofs of inclusion: `{milestone, block, proof, appliedProof?, blockId?}` (docs/protocol.md
 * B.13).
 *
 * Every signature in the milestone must be valid. Whose keys they are is not checked: the file
 * names no keys to trust.
 */
import type { JsonObject } from '../../src/stardust/encoding/json-object.ts';
import type { MilestoneKeys, VerifySignature } from '../../src/stardust/milestone-keys.ts';
import { verifyProofFile } from '../../src/stardust/proof/proof.ts';
import { proofFileReaders } from '../../src/stardust/proof/proof-file.ts';
import type { Milestone } from '../../src/stardust/wire/milestone.ts';

export async function runProof(
  vector: JsonObject,
  verify: VerifySignature,
): Promise<string | undefined> {
  const verdict = await verifyProofFile(vector, proofFileReaders(ownKeys, verify));
  return verdict.ok ? undefined : verdict.reason;
}

function ownKeys({ signatures }: Milestone): MilestoneKeys {
  const keys = signatures.map(({ publicKey }) => ({ publicKey, first: 0, last: 0 }));
  return { keys, threshold: 1 };
}
