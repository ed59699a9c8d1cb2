/** Judges proof files of other tools: a block, its milestone and two Merkle paths in JSON. */
import { toHex } from '../encoding/bytes.ts';
import { caughtRefusal } from '../error.ts';
import { verifyInclusion } from '../proof/proof.ts';
import type { MilestoneOutcome } from './cone.ts';
import type { SignedMilestone, Trust } from './milestone.ts';
import { type Finding, type Proved, prove, provedValue, refute } from './proved.ts';

/**
 * Judges whether a proof file `{milestone, block, proof, appliedProof}` of other tools shows that
 * this milestone references the block; and that its transaction was applied, if it was.
 */
export async function proveProofFile(
  outcome: Proved<MilestoneOutcome>,
  blockId: string,
  file: unknown,
  { keys, verify }: Trust,
): Promise<Finding<SignedMilestone>> {
  const { milestone, applied } = provedValue(outcome);
  // what else is in the file may be large, and is not copied
  const { milestone: signed, block, proof, appliedProof } = Object(file) as Record<string, unknown>;
  if (applied.has(blockId) && appliedProof === undefined)
    return refute(`the proof of block ${blockId} has no path to the applied root`, [blockId]);
  const fields = { milestone: signed, block, proof, appliedProof, blockId };
  try {
    const { milestone: proven } = await verifyInclusion(fields, keys, verify);
    return toHex(proven.inclusionMerkleRoot) === milestone.inclusionMerkleRoot
      ? prove(milestone)
      : refute(`the proof of block ${blockId} leads to another milestone ${proven.index}`, [
          blockId,
        ]);
  } catch (error) {
    return refute(`the proof of block ${blockId}: ${caughtRefusal(error).reason}`, [blockId]);
  }
}
