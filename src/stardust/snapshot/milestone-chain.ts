/**
 * Checks that the milestones of a snapshot are a network's: each links to the one before and is
 * properly signed (docs/protocol.md, E.3, M-2, M-3). Nothing else of a diff can be verified, as a
 * milestone does not commit to the outputs that it creates and consumes
 * (docs/snapshot-format.md#what-a-snapshot-proves).
 */
import { equalBytes, isZero } from '../encoding/bytes.ts';
import { refusal, type StardustError } from '../error.ts';
import { type MilestoneKeys, signatureFault, type VerifySignature } from '../milestone-keys.ts';
import type { MilestoneReference, SnapshotMilestone } from './snapshot-records.ts';

export interface ChainRules {
  /** Keys that sign milestones. If absent, signatures are not checked. */
  signers?: { keys: MilestoneKeys; verify: VerifySignature };
  /** Accepts milestones that do not link, as in files of HORNET's integration test. */
  unlinked?: boolean;
  genesisIndex: number;
}

/** Throws a StardustError unless `later` follows `earlier`, names it and is later (E.3). */
export function checkLink(
  earlier: MilestoneReference,
  later: SnapshotMilestone,
  rules: ChainRules,
): void {
  if (later.index !== earlier.index + 1) throw misplaced(later, earlier.index + 1);
  if (rules.unlinked) return;
  // the network's first milestone names none, whatever the header says of genesis
  const isFirst = earlier.index === rules.genesisIndex;
  const named = later.value.previousMilestoneId;
  if (isFirst ? !isZero(named) : !equalBytes(named, earlier.id))
    throw refusal(
      'E.3',
      `milestone ${later.index} does not name milestone ${earlier.index} as the one before it`,
    );
  if (!isFirst && later.timestamp <= earlier.timestamp)
    throw refusal('E.3', `milestone ${later.index} is not later than milestone ${earlier.index}`);
}

/** Throws a StardustError unless the milestone is the one that the header refers to. */
export function checkSame(
  milestone: SnapshotMilestone,
  reference: MilestoneReference,
  rules: ChainRules,
): void {
  if (rules.unlinked) return;
  if (!equalBytes(milestone.id, reference.id) || milestone.timestamp !== reference.timestamp)
    throw refusal('1.1', `milestone ${milestone.index} is not the one that the header names`);
}

/** Throws a StardustError unless the milestone is properly signed by the given keys (M-2, M-3). */
export async function checkSignatures(
  milestone: SnapshotMilestone,
  { signers }: Pick<ChainRules, 'signers'>,
): Promise<void> {
  if (signers === undefined) return;
  const fault = await signatureFault(milestone.value, milestone.id, signers.keys, signers.verify);
  if (fault !== undefined)
    throw refusal('1.7', `milestone ${milestone.index} is not properly signed, ${fault}`);
}

export function misplaced(milestone: SnapshotMilestone, due: number): StardustError {
  return refusal('1.5', `the diff of milestone ${milestone.index} where milestone ${due} is due`);
}
