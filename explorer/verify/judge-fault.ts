/**
 * Judges why a transaction is in conflict, for its page. Loaded where one is.
 */
import { verifySignature } from '../../src/platform/verify-signature.ts';
import { proveFault } from '../../src/stardust/provenance/fault.ts';
import type {
  BlockContent,
  Finding,
  Proved,
  SignedMilestone,
} from '../../src/stardust/provenance/provenance.ts';
import type { ConsumedOutput, Fault } from '../../src/stardust/semantics/verdict.ts';
import type { KeyChoice } from './describe-keys.ts';
import { readSigned } from './judge.ts';

export interface JudgedFault {
  fault: Fault | undefined;
  milestone: SignedMilestone;
}

/** What decides about the transaction at the time of the milestone that references its block. */
export async function judgeFault(
  block: Proved<BlockContent>,
  consumed: Proved<readonly ConsumedOutput[]>,
  index: number,
  choice: KeyChoice,
  networkName: string,
): Promise<Finding<JudgedFault>> {
  const signed = await readSigned(index, choice, networkName);
  if (signed.standing !== 'proved') return signed;
  return proveFault(signed.proof, block, consumed, verifySignature);
}
