/**
 * Applying one milestone: verified, its cone loaded, its roots recomputed, all of it written
 * (docs/protocol.md, E.5).
 *
 * Nothing is written before both roots equal the signed ones. Then the cone commits to every block
 * in it, in this order, so that nothing that an upstream sent can have been added, left out or
 * changed; and everything is written in one batch behind a fence.
 */
import type { AdmissionRules } from '../ledger/admission-rules.ts';
import { applyStatements } from '../ledger/apply-statements.ts';
import { type BlockSource, ConeUnavailable } from '../ledger/block-source.ts';
import {
  type ConsistentView,
  type LoadedCone,
  MAX_PACKS_TO_FOLLOW,
  readView,
  storedCone,
} from '../ledger/consistent-view.ts';
import type { Database } from '../ledger/database.ts';
import { decideVerdicts } from '../ledger/decide-verdicts.ts';
import { LedgerMoved, runFenced } from '../ledger/fence.ts';
import { assembleCone, fetchUnknown } from '../ledger/fetch-cone.ts';
import { parametersAt } from '../ledger/ledger-parameters.ts';
import type { VerifiedMilestone } from '../ledger/milestone-changes.ts';
import { createdOutputIds, settleWaiting } from '../ledger/store-blocks.ts';
import { equalBytes, toHex, toHexDigits } from '../stardust/bytes.ts';
import { receiptOf } from '../stardust/milestone.ts';
import { migratedOutputs, receiptFault } from '../stardust/receipt.ts';
import { computeRoots, walkCone } from '../stardust/white-flag/walk.ts';
import { UpstreamFailure } from '../upstream/upstream.ts';
import type { Exclusively } from './exclusively.ts';
import { Divergence } from './verify-milestone.ts';

export interface TakenIn {
  index: number;
  blocks: number;
  /** Hex IDs of those which D1 did not have. */
  fetched: string[];
}

export interface ApplyTools {
  rules: AdmissionRules;
  source: BlockSource;
  /** Whatever is read and then written is done in it, not what is fetched. */
  exclusively: Exclusively;
}

/**
 * Applies the milestone after the ledger's. Throws a Divergence when the roots are not those of the
 * milestone, a LedgerMoved when somebody else was first or replaced the ledger, an UpstreamFailure
 * when a block is not to be had, a ConeUnavailable when the pass may not fetch as many blocks, and
 * whatever else `source` throws.
 */
export async function takeInMilestone(
  db: Database,
  verified: VerifiedMilestone,
  { rules, source, exclusively }: ApplyTools,
): Promise<TakenIn> {
  const { index, parents: parentIds } = verified.milestone;
  const parents = parentIds.map(toHexDigits);
  const maxPacks = MAX_PACKS_TO_FOLLOW;
  try {
    const first = await exclusively(async () => {
      const view = await readView(db, { index, named: parents, maxPacks });
      if (view === undefined) throw new LedgerMoved('there is no ledger any more');
      const loaded = storedCone(view, parents);
      return loaded === undefined ? view : apply(db, verified, loaded, rules);
    });
    if ('blocks' in first) return first;
    const request = { first, index, parents, rules: async () => rules, source, maxPacks };
    const found = await fetchUnknown(db, request);
    return await exclusively(async () =>
      apply(db, verified, await assembleCone(db, request, found), rules),
    );
  } catch (error) {
    if (!(error instanceof ConeUnavailable)) throw error;
    switch (error.fault) {
      case 'ledger-replaced':
        throw new LedgerMoved(error.message);
      case 'unknown-block':
        throw new UpstreamFailure(error.message);
      default:
        throw error;
    }
  }
}

async function apply(
  db: Database,
  verified: VerifiedMilestone,
  loaded: LoadedCone,
  rules: AdmissionRules,
): Promise<TakenIn> {
  const { milestone } = verified;
  const { index } = milestone;
  const { head } = loaded.view;
  if (head.ledger !== index - 1) throw new LedgerMoved(`the ledger is at ${head.ledger} already`);
  const proposal = {
    parents: loaded.parents,
    timestamp: milestone.timestamp,
    previousMilestoneId: index === head.genesis + 1 ? undefined : milestone.previousMilestoneId,
  };
  const walked = walkCone(loaded.cone, loaded.view.states, proposal);
  const decided = await decideVerdicts(db, loaded, proposal, walked, async () => rules);
  const { cone, whiteFlag } = decided;
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
  checkReceipt(verified, loaded.view);
  await runFenced(db, await applyStatements(db, verified, loaded, decided));
  const created = [...createdOutputIds(loaded.fetched), ...migratedIds(verified)];
  await settleWaiting(db, head.generation, created, rules.verify);
  return { index, blocks: whiteFlag.order.length, fetched: loaded.fetched.map(({ id }) => id) };
}

/** Of the outputs that a receipt brings. */
function migratedIds({ milestone, id }: VerifiedMilestone): string[] {
  const receipt = receiptOf(milestone);
  return receipt === undefined
    ? []
    : migratedOutputs(receipt, id).map((output) => toHexDigits(output.id));
}

/** E.5, 4: with the parameters in force at the ledger's index. */
function checkReceipt(
  { milestone }: VerifiedMilestone,
  { head, parameters }: ConsistentView,
): void {
  const receipt = receiptOf(milestone);
  if (receipt === undefined) return;
  const { tokenSupply } = parametersAt(parameters, head.ledger);
  const why = receiptFault(receipt, head.treasury.amount, tokenSupply);
  if (why !== undefined)
    throw new Divergence(`the receipt of milestone ${milestone.index} cannot be applied, ${why}`);
}
