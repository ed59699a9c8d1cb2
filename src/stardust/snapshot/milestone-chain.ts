/**
 * Whether the milestones of a snapshot are those of a network: each follows the one before, properly signed (protocol.md E.3, M-2, M-3).
 *
 * That is all that can be verified of a diff. The outputs it creates and consumes are not committed to by its milestone (formats-and-clients.md 1.7).
 */
import { equalBytes, Refusal } from '../bytes.ts';
import { type MilestoneKeys, signatureFault, type VerifySignature } from '../milestone-keys.ts';
import type { MilestoneReference } from './snapshot-header.ts';
import type { SnapshotMilestone } from './snapshot-records.ts';

export interface ChainRules {
  /** Who signs milestones. Without them signatures are not looked at. */
  signers?: { keys: MilestoneKeys; verify: VerifySignature };
  /**
   * Takes milestones whose previous IDs and timestamps do not lead from one to the next. No network has such; files made up for tests have,
   * as HORNET's own.
   */
  unlinked?: boolean;
}

/** A Refusal unless `later` is the milestone after `earlier`, which it names as the previous one (E.3). */
export function checkLink(
  earlier: MilestoneReference,
  later: SnapshotMilestone,
  rules: ChainRules,
): void {
  if (later.index !== earlier.index + 1) throw misplaced(later, earlier.index + 1);
  if (rules.unlinked) return;
  if (!equalBytes(later.value.previousMilestoneId, earlier.id)) {
    throw new Refusal(
      'E.3',
      `milestone ${later.index} does not name milestone ${earlier.index} as the one before it`,
    );
  }
  if (later.timestamp <= earlier.timestamp) {
    throw new Refusal(
      'E.3',
      `milestone ${later.index} is not later than milestone ${earlier.index}`,
    );
  }
}

/** A Refusal unless the milestone is the one that is referred to. */
export function checkSame(
  milestone: SnapshotMilestone,
  reference: MilestoneReference,
  rules: ChainRules,
): void {
  if (rules.unlinked) return;
  if (!equalBytes(milestone.id, reference.id) || milestone.timestamp !== reference.timestamp) {
    throw new Refusal('1.1', `milestone ${milestone.index} is not the one that the header names`);
  }
}

/** A Refusal unless the milestone is signed as it has to be, by the keys given. */
export async function checkSignatures(
  milestone: SnapshotMilestone,
  { signers }: ChainRules,
): Promise<void> {
  if (signers === undefined) return;
  const fault = await signatureFault(milestone.value, milestone.id, signers.keys, signers.verify);
  if (fault !== undefined)
    throw new Refusal('1.7', `milestone ${milestone.index} is not properly signed, ${fault}`);
}

export function misplaced(milestone: SnapshotMilestone, due: number): Refusal {
  return new Refusal(
    '1.5',
    `the diff of milestone ${milestone.index} where milestone ${due} is due`,
  );
}
