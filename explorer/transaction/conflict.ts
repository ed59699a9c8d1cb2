/**
 * Which input put a transaction in conflict, where the ledger did (docs/protocol.md, D.1), as far as
 * the outputs that a node answers tell.
 */
import { ConflictReason } from '../../src/stardust/semantics/verdict.ts';
import type { OutputMetadata } from '../node/shapes.ts';

export interface SpentInput {
  /** From 0. */
  input: number;
  /** What spent it before; undefined where the ledger did not have the output. */
  spentBy: { transactionId: string; milestoneIndex: number } | undefined;
}

/**
 * The input that decided. Undefined where the ledger did not decide, or where what the node still has
 * leaves more than one.
 *
 * @param inputs metadata in the order of the inputs; undefined where the node has no such output
 * @param index of the milestone that references the transaction
 */
export function findSpentInput(
  reason: number,
  inputs: readonly (OutputMetadata | undefined)[],
  index: number,
): SpentInput | undefined {
  const suspects = inputs.flatMap((metadata, input) => {
    const suspicion = suspect(reason, metadata, index);
    return suspicion === 'innocent' ? [] : [{ input, metadata, suspicion }];
  });
  const [first] = suspects;
  if (first === undefined || (first.suspicion === 'possible' && suspects.length > 1))
    return undefined;
  const { input, metadata } = first;
  const { transactionIdSpent: transactionId, milestoneIndexSpent: milestoneIndex } = metadata ?? {};
  const isSpent =
    reason !== ConflictReason.InputNotFound &&
    transactionId !== undefined &&
    milestoneIndex !== undefined;
  return { input, spentBy: isSpent ? { transactionId, milestoneIndex } : undefined };
}

/** Whether an input is why the ledger decided so, of several the first. */
function suspect(
  reason: number,
  metadata: OutputMetadata | undefined,
  index: number,
): 'certain' | 'possible' | 'innocent' {
  const { milestoneIndexBooked: booked, milestoneIndexSpent: spent } = metadata ?? {};
  switch (reason) {
    case ConflictReason.InputAlreadySpent:
      // one that was spent long ago is pruned
      if (metadata === undefined) return 'possible';
      return spent !== undefined && spent < index ? 'certain' : 'innocent';
    case ConflictReason.InputAlreadySpentInThisMilestone:
      // or by a later transaction of the milestone
      return spent === index ? 'possible' : 'innocent';
    case ConflictReason.InputNotFound:
      if (booked === undefined || booked > index) return 'certain';
      // or by an earlier transaction of the milestone
      return booked === index ? 'possible' : 'innocent';
    default:
      return 'innocent';
  }
}
