/**
 * Taking in one milestone: verified, its cone gathered, its roots recomputed, applied (design §5; protocol.md E.5).
 *
 * Nothing is written before both roots equal the signed ones. Then the cone commits to every block in it, in this order, so that nothing that an upstream
 * sent can have been added, left out or changed; and everything is written in one batch behind a fence.
 */

import type { AdmissionRules } from '../ledger/admission-rules.ts';
import { applyStatements, type VerifiedMilestone } from '../ledger/apply-statements.ts';
import { type BlockSource, ConeUnavailable } from '../ledger/block-source.ts';
import {
  type ConsistentView,
  type LoadedCone,
  MAX_CHUNKS_TO_FOLLOW,
  readView,
  storedCone,
} from '../ledger/consistent-view.ts';
import type { Database } from '../ledger/database.ts';
import { decideVerdicts } from '../ledger/decide-verdicts.ts';
import { LedgerMoved, runFenced } from '../ledger/fence.ts';
import { fetchCone } from '../ledger/fetch-cone.ts';
import { parametersAt, readParameters } from '../ledger/ledger-parameters.ts';
import {
  admitStatements,
  createdOutputIds,
  settleWaiting,
  storeStatements,
} from '../ledger/store-blocks.ts';
import { equalBytes, toHex, toHexDigits } from '../stardust/bytes.ts';
import { receiptOf } from '../stardust/milestone.ts';
import { migratedOutputs, receiptFault } from '../stardust/receipt.ts';
import { computeRoots, walkCone } from '../stardust/white-flag/walk.ts';
import { UpstreamFailure } from '../upstream/upstream.ts';
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
  rules: AdmissionRules,
  source: BlockSource,
): Promise<TakenIn> {
  const { milestone } = verified;
  const { index } = milestone;
  const loaded = await loadCone(db, verified, rules, source);
  const { head } = loaded.view;
  const proposal = {
    parents: loaded.parents,
    timestamp: milestone.timestamp,
    previousMilestoneId: index === head.genesis + 1 ? undefined : milestone.previousMilestoneId,
  };
  const walked = walkCone(loaded.cone, loaded.view.states, proposal);
  const { cone, whiteFlag } = await decideVerdicts(db, loaded, proposal, walked, async () => rules);
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
  await checkReceipt(db, verified, loaded.view);
  const statements = [
    ...storeStatements(db, loaded.fetched, head.generation),
    ...admitStatements(db, cone, whiteFlag.order),
    ...applyStatements(db, head, verified, cone, whiteFlag),
  ];
  await runFenced(db, statements);
  const created = [...createdOutputIds(loaded.fetched), ...migratedIds(verified)];
  await settleWaiting(db, head.generation, created, rules.verify);
  return { index, blocks: whiteFlag.order.length, fetched: loaded.fetched.length };
}

/**
 * The cone of the milestone after the ledger's. Throws a LedgerMoved when somebody else applied it
 * or replaced the ledger, an UpstreamFailure when a block is not to be had, a ConeUnavailable when
 * the pass may not fetch as many blocks.
 */
async function loadCone(
  db: Database,
  { milestone }: VerifiedMilestone,
  rules: AdmissionRules,
  source: BlockSource,
): Promise<LoadedCone> {
  const { index } = milestone;
  const parents = milestone.parents.map(toHexDigits);
  const maxChunks = MAX_CHUNKS_TO_FOLLOW;
  try {
    const first = await readView(db, index, parents, maxChunks);
    if (first === undefined) throw new LedgerMoved('there is no ledger any more');
    const request = { first, index, parents, rules: async () => rules, source, maxChunks };
    const loaded = storedCone(first, parents) ?? (await fetchCone(db, request));
    const { ledger } = loaded.view.head;
    if (ledger !== index - 1) throw new LedgerMoved(`the ledger is at ${ledger} already`);
    return loaded;
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
  { head }: ConsistentView,
): Promise<void> {
  const receipt = receiptOf(milestone);
  if (receipt === undefined) return;
  const { tokenSupply } = parametersAt(await readParameters(db), head.ledger);
  const why = receiptFault(receipt, head.treasury.amount, tokenSupply);
  if (why !== undefined)
    throw new Divergence(`the receipt of milestone ${milestone.index} cannot be applied, ${why}`);
}
