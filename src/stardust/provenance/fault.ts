/**
 * Judges a transaction again: the verdict follows from its bytes, the outputs that it consumes, and
 * the time of a signed milestone (docs/protocol.md, D.2).
 */
import { areInputsOf, findFault } from '../semantics/judge.ts';
import { verifySignatures } from '../semantics/signatures.ts';
import type { ConsumedOutput, Fault } from '../semantics/verdict.ts';
import type { BlockContent } from './blocks.ts';
import type { SignedMilestone, Trust } from './milestone.ts';
import { type Finding, notChecked, type Proved, prove, provedValue } from './proved.ts';

/**
 * Finds what decides about a transaction at the time of a signed milestone, if all its inputs are
 * unspent; undefined if nothing speaks against it.
 */
export async function proveFault(
  signed: Proved<SignedMilestone>,
  block: Proved<BlockContent>,
  consumed: Proved<readonly ConsumedOutput[]>,
  verify: Trust['verify'],
): Promise<Finding<{ fault: Fault | undefined; milestone: SignedMilestone }>> {
  const milestone = provedValue(signed);
  const { transaction } = provedValue(block).parsed;
  const outputs = provedValue(consumed);
  if (transaction === undefined || !areInputsOf(transaction, outputs))
    return notChecked('the verdict, as the outputs are those of another transaction');
  const validSignatures = await verifySignatures(transaction, verify);
  const fault = findFault({ ...transaction, validSignatures }, outputs, milestone.timestamp);
  return prove({ fault, milestone });
}
