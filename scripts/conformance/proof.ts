/**
 * Proofs of inclusion: `{milestone, block, proof, appliedProof?, blockId?}` (docs/protocol.md
 * B.13).
 *
 * Every signature in the milestone must be valid. Whose keys they are is not checked: the file
 * names no keys to trust.
 */
import { block, parseBlock } from '../../src/stardust/block.ts';
import { Refusal } from '../../src/stardust/bytes.ts';
import { encode } from '../../src/stardust/codec.ts';
import { milestoneId } from '../../src/stardust/ids.ts';
import { type Milestone, milestone } from '../../src/stardust/milestone.ts';
import { signatureFault } from '../../src/stardust/milestone-keys.ts';
import { verifyProofFile } from '../../src/stardust/proof.ts';
import { verifySignature } from '../../src/verify-signature.ts';
import type { JsonObject } from './json-object.ts';
import { readBlock, readMilestone } from './read-rest-json.ts';

export async function runProof(vector: JsonObject): Promise<string | undefined> {
  const verdict = await verifyProofFile(vector, { blockId: idOfBlock, signedRoots });
  return verdict.ok ? undefined : verdict.reason;
}

function idOfBlock(json: unknown): Uint8Array {
  const result = parseBlock(encode(block, readBlock(json)));
  if (!result.ok) throw new Refusal('B.13', `block that is refused, ${result.reason}`);
  return result.parsed.id;
}

async function signedRoots(json: unknown): Promise<Milestone> {
  const value = readMilestone(json);
  const keys = value.signatures.map(({ publicKey }) => ({ publicKey, first: 0, last: 0 }));
  const id = milestoneId(value, encode(milestone, value));
  const fault = await signatureFault(value, id, { keys, threshold: 1 }, verifySignature);
  if (fault !== undefined)
    throw new Refusal('B.13', `milestone that is not properly signed, ${fault}`);
  return value;
}
