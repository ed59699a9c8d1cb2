/**
 * Applying one verified milestone: what D1 does not have of its past cone is fetched and stored
 * (store-cone.ts), its roots are computed from what is in D1, and all that it changes is written
 * (docs/protocol.md, E.5).
 *
 * The ledger changes only after both roots equal the signed ones. Then the cone commits to every
 * block in it, in this order, so that nothing that an upstream sent can have been added, left out
 * or changed; and everything is written in one batch behind a fence.
 */

import type { Database } from '../ledger/core/database.ts';
import { LedgerMoved, runFenced } from '../ledger/core/fence.ts';
import type { Head } from '../ledger/core/head.ts';
import { parametersAt } from '../ledger/core/ledger-parameters.ts';
import { write } from '../ledger/core/read-batch.ts';
import type { AdmissionRules } from '../ledger/intake/admission-rules.ts';
import { type BlockSource, ConeUnavailable } from '../ledger/intake/block-source.ts';
import { selectGiven } from '../ledger/intake/next-numbers.ts';
import {
  type ConsistentView,
  type LoadedCone,
  readView,
  storedCone,
} from '../ledger/view/consistent-view.ts';
import { decideVerdicts, meetsPreviousMilestone } from '../ledger/view/decide-verdicts.ts';
import { applyStatements } from '../ledger/write/apply-statements.ts';
import { dropStaged } from '../ledger/write/drop-blocks.ts';
import type { VerifiedMilestone } from '../ledger/write/milestone-changes.ts';
import { resolveVerdicts } from '../ledger/write/store-blocks.ts';
import { equalBytes, toHex, toHexDigits } from '../stardust/encoding/bytes.ts';
import { computeRoots, walkCone } from '../stardust/white-flag/walk.ts';
import { receiptOf } from '../stardust/wire/milestone.ts';
import { migratedOutputs, receiptFault } from '../stardust/wire/receipt.ts';
import { UpstreamFailure } from '../upstream/upstream.ts';
import { type AppliedMilestone, blocksAtHand, type FollowerMemory } from './follower-context.ts';
import { createMissingCone, isKnown, storeCone } from './store/store-cone.ts';
import { Divergence } from './verify-milestone.ts';

export interface ApplyTools {
  memory: FollowerMemory;
  rules: AdmissionRules;
  /** Of blocks that D1 does not have. */
  source: BlockSource;
  /** Unix milliseconds after which no further part of a large cone is begun. */
  deadline: number;
}

/**
 * Applies the milestone after the ledger's, whatever the size of its cone. Throws a Divergence when
 * the roots are not those of the milestone, a LedgerMoved when somebody else was first or replaced
 * the ledger, an UpstreamFailure when a block cannot be fetched, a ConeUnavailable, `over-budget`,
 * where the next pass continues, and whatever else `source` throws.
 *
 * @param head where the ledger stands, right before the milestone
 */
export async function applyMilestone(
  db: Database,
  head: Head,
  verified: VerifiedMilestone,
  tools: ApplyTools,
): Promise<AppliedMilestone> {
  const { memory, rules } = tools;
  const parents = verified.milestone.parents.map(toHexDigits);
  const lookUp = () => memory.index.view(db, head, parents);
  let view = await memory.mutex(lookUp);
  if (parents.every((id) => isKnown(view, id))) {
    const applied = await memory.mutex(() => applyStored(db, verified, parents, tools));
    if (applied !== undefined) return applied;
    // blocks may have been dropped
    view = await memory.mutex(lookUp);
  }
  const milestone = toHexDigits(verified.id);
  if (memory.missing?.milestone !== milestone)
    memory.missing = createMissingCone(head, { milestone, parents });
  const { missing } = memory;
  const atHand = blocksAtHand(memory);
  try {
    await storeCone(db, head, missing, {
      view,
      rules,
      source: tools.source,
      mutex: memory.mutex,
      index: memory.index,
      announce: memory.announce,
      stored: (ids) => {
        for (const id of ids) atHand.delete(id);
      },
      deadline: tools.deadline,
    });
  } catch (error) {
    if (error instanceof ConeUnavailable && error.fault === 'unknown-block')
      throw new UpstreamFailure(error.message);
    throw error;
  }
  const applied = await memory.mutex(() => applyStored(db, verified, parents, tools));
  // parts that were stored may have been dropped since: the walk begins again
  memory.missing = undefined;
  if (applied === undefined) throw new LedgerMoved('blocks of the cone are gone again');
  return { ...applied, fetched: missing.stored };
}

/**
 * Undefined where D1 does not have the whole cone, or has dropped a part of it, as blocks of
 * another milestone with this index were staged in the same packs.
 */
async function applyStored(
  db: Database,
  verified: VerifiedMilestone,
  parents: readonly string[],
  { memory, rules }: ApplyTools,
): Promise<AppliedMilestone | undefined> {
  const { index } = verified.milestone;
  const view = await readView(db, { index, named: parents, withStaged: true });
  if (view === undefined) throw new LedgerMoved('there is no ledger any more');
  const loaded = storedCone(view, parents);
  return loaded && apply(db, verified, loaded, { memory, rules });
}

async function apply(
  db: Database,
  verified: VerifiedMilestone,
  loaded: LoadedCone,
  { memory, rules }: Pick<ApplyTools, 'memory' | 'rules'>,
): Promise<AppliedMilestone | undefined> {
  const { milestone } = verified;
  const { index } = milestone;
  const { view } = loaded;
  const { head } = view;
  if (head.ledger !== index - 1) throw new LedgerMoved(`the ledger is at ${head.ledger} already`);
  const proposal = {
    parents: loaded.parents,
    timestamp: milestone.timestamp,
    previousMilestoneId: index === head.genesis + 1 ? undefined : milestone.previousMilestoneId,
  };
  const readRules = async () => rules;
  const walked = walkCone(loaded.cone, view.states, proposal);
  const decided = await decideVerdicts(db, loaded, proposal, walked, readRules);
  const { cone, whiteFlag } = decided;
  if (!(await meetsPreviousMilestone(db, loaded, cone, whiteFlag, readRules)))
    throw new Divergence(`the cone of milestone ${index} has no block of the one before`);
  const roots = computeRoots(cone, whiteFlag);
  for (const root of ['inclusionMerkleRoot', 'appliedMerkleRoot'] as const) {
    if (!equalBytes(roots[root], milestone[root])) {
      throw new Divergence(
        `milestone ${index}: ${root} ${toHex(milestone[root])}, computed ${toHex(roots[root])}`,
      );
    }
  }
  checkReceipt(verified, view);
  const changes = await applyStatements(db, verified, view, decided);
  if (changes === undefined) {
    await dropStaged(db, view);
    memory.missing = undefined;
    return undefined;
  }
  const { statements, left } = changes;
  const { given } = await runFenced(db, { writes: write(statements), given: selectGiven(db) });
  const after = { ledger: index, dropped: head.dropped, stored: given.nextBlock };
  memory.index.retain(view, after, left);
  await resolveVerdicts(db, head.generation, migratedIds(verified), rules.verify);
  return { index, blocks: whiteFlag.order.length, fetched: 0 };
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
