/**
 * Taking in one milestone: verified, its cone gathered, its roots recomputed, applied (design §5; protocol.md E.5).
 *
 * Nothing is written before both roots equal the signed ones. Then the cone commits to every block in it, in this order, so that nothing that an upstream
 * sent can have been added, left out or changed; and everything is written in one batch behind a fence.
 */
import { applyStatements, type VerifiedMilestone } from '../ledger/apply-statements.ts';
import { MAX_CHUNKS_TO_FOLLOW, readView, type View } from '../ledger/consistent-view.ts';
import type { Database } from '../ledger/database.ts';
import { LedgerMoved, runFenced } from '../ledger/fence.ts';
import { parametersAt, readParameters } from '../ledger/ledger-parameters.ts';
import { type BlockSource, gatherCone, judgeGathered, UnknownBlock } from '../ledger/load-cone.ts';
import type { IntakeRules } from '../ledger/prepare-blocks.ts';
import {
  admitStatements,
  createdOutputIds,
  settleWaiting,
  storeStatements,
} from '../ledger/store-blocks.ts';
import { equalBytes, toHex, toHexDigits } from '../stardust/bytes.ts';
import { receiptOf } from '../stardust/milestone.ts';
import { invalidReceipt, migratedOutputs } from '../stardust/receipt.ts';
import { computeRoots } from '../stardust/white-flag/walk.ts';
import { Divergence } from './verify-milestone.ts';

export interface TakenIn {
  index: number;
  blocks: number;
  fetched: number;
}

/** Throws a Divergence when the roots are not those of the milestone, LedgerMoved when somebody else was first, and whatever `source` throws. */
export async function takeInMilestone(
  db: Database,
  verified: VerifiedMilestone,
  rules: IntakeRules,
  source: BlockSource,
): Promise<TakenIn> {
  const { milestone } = verified;
  const { index } = milestone;
  const parents = milestone.parents.map(toHexDigits);
  const view = await readView(db, index, parents, MAX_CHUNKS_TO_FOLLOW);
  if (view === undefined) throw new LedgerMoved('there is no ledger any more');
  if (view === 'too large') throw new Error(`the cone of milestone ${index} is too large`);
  const gathered = await gatherCone(
    db,
    view,
    index,
    parents,
    async () => rules,
    source,
    MAX_CHUNKS_TO_FOLLOW,
  );
  if (gathered === 'too large') throw new Error(`the cone of milestone ${index} is too large`);
  if (gathered === 'ledger replaced') throw new LedgerMoved('the ledger was replaced');
  if ('missing' in gathered) throw new UnknownBlock(`block 0x${gathered.missing} is not known`);
  if (gathered.view.head.ledger !== index - 1)
    throw new LedgerMoved(`the ledger is at ${gathered.view.head.ledger} already`);

  const previousMilestoneId =
    index === view.head.genesis + 1 ? undefined : milestone.previousMilestoneId;
  const { cone, whiteFlag } = await judgeGathered(
    db,
    gathered,
    milestone.timestamp,
    previousMilestoneId,
    async () => rules,
  );
  if (!whiteFlag.metPreviousMilestone)
    throw new Divergence(`the cone of milestone ${index} has no block of the one before`);
  const roots = computeRoots(cone, whiteFlag);
  for (const root of ['inclusionMerkleRoot', 'appliedMerkleRoot'] as const) {
    if (!equalBytes(roots[root], milestone[root])) {
      throw new Divergence(
        `milestone ${index}: ${root} ${toHex(milestone[root])}, computed ${toHex(roots[root])}`,
      );
    }
  }
  await checkReceipt(db, verified, gathered.view);

  const { head } = gathered.view;
  const statements = [
    ...storeStatements(db, gathered.fetched, head.generation),
    ...admitStatements(db, cone, whiteFlag.order),
    ...applyStatements(db, head, verified, cone, whiteFlag),
  ];
  await runFenced(db, statements);
  const created = [...createdOutputIds(gathered.fetched), ...migratedIds(verified)];
  await settleWaiting(db, head.generation, created, rules.verify);
  return { index, blocks: whiteFlag.order.length, fetched: gathered.fetched.length };
}

/** Of the outputs that a receipt brings. */
function migratedIds({ milestone, id }: VerifiedMilestone): string[] {
  const receipt = receiptOf(milestone);
  return receipt === undefined
    ? []
    : migratedOutputs(receipt, id).map((output) => toHexDigits(output.id));
}

/** E.5, 4: with the parameters in force at the ledger's index. */
async function checkReceipt(
  db: Database,
  { milestone }: VerifiedMilestone,
  { head }: View,
): Promise<void> {
  const receipt = receiptOf(milestone);
  if (receipt === undefined) return;
  const { tokenSupply } = parametersAt(await readParameters(db), head.ledger);
  const why = invalidReceipt(receipt, head.treasury.amount, tokenSupply);
  if (why !== undefined)
    throw new Divergence(`the receipt of milestone ${milestone.index} cannot be applied, ${why}`);
}
