/** The ledger's position with everything that the next milestone is judged by, read at once. */
import type { Database } from '../ledger/core/database.ts';
import { type Head, type KnownMilestone, selectLedger } from '../ledger/core/head.ts';
import { admittingParameters, selectParameters } from '../ledger/core/ledger-parameters.ts';
import { readBatch } from '../ledger/core/read-batch.ts';
import type { AdmissionRules } from '../stardust/admission.ts';
import type { MilestoneRules } from '../stardust/milestone-keys.ts';
import type { ParameterTable } from '../stardust/parameter-table.ts';

export interface LedgerPosition {
  head: Head;
  milestone: KnownMilestone;
  /** Protocol parameters of the snapshot, and those that milestones announced since. */
  announced: ParameterTable;
  rules: AdmissionRules;
}

/** Throws an Error if there is no ledger, and a LedgerUnreadable if it has another schema. */
export async function readPosition(
  db: Database,
  { keys, verify }: MilestoneRules,
): Promise<LedgerPosition> {
  const { at, announced } = await readBatch(db, {
    at: selectLedger(db),
    announced: selectParameters(db),
  });
  if (at === undefined) throw new Error('nothing to follow from: no snapshot was imported');
  const { head, milestone } = at;
  const parameters = admittingParameters(announced, head.ledger);
  return { head, milestone, announced, rules: { keys, verify, parameters } };
}
