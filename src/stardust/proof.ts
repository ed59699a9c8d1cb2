/** Proofs that a milestone references a block. The subpath `/proof` of the package (README.md). */
export type { MilestoneKey, MilestoneKeys, VerifySignature } from './milestone-keys.ts';
export { merkleRoot } from './proof/merkle.ts';
export {
  type IncludedBlock,
  type Proof,
  type ProofVerdict,
  proofFor,
  verifyInclusion,
  verifyPath,
} from './proof/proof.ts';
export type { ParsedBlock } from './wire/block.ts';
export type { Milestone } from './wire/milestone.ts';
