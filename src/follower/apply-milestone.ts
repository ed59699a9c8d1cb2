/**
 * Applying one verified milestone: what D1 does not have of its past cone is fetched and stored
 * (store-cone.ts), its roots are computed from what is in D1, and all that it changes is written
 * (docs/protocol.md, E.5). Where the cone in D1 has blocks that an earlier milestone referenced, they
 * are dropped first (leave-out.ts).
 *
 * The ledger changes only after both roots equal the signed ones. Then the cone commits to every
 * block in it, in this order, so that nothing that an upstream sent can have been added, left out
 * or changed; and everything is written in one batch behind a fence.
 */

import { LedgerDamaged } from '../ledger/core/checksum.ts';
import type { Database } from '../ledger/core/database.ts';
import { LedgerMoved, runFenced, unlessMoved } from '../ledger/core/fence.ts';
import type { Head } from '../ledger/core/head.ts';
import { parametersAt } from '../ledger/core/ledger-parameters.ts';
import { write } from '../ledger/core/read-batch.ts';
import type { AdmissionRules } from '../ledger/intake/admission-rules.ts';
import { ConeUnavailable } from '../ledger/intake/block-source.ts';
import { selectGiven } from '../ledger/intake/next-numbers.ts';
import { type ConsistentView, readView, walkView } from '../ledger/view/consistent-view.ts';
import { meetsPreviousMilestone } from '../ledger/view/examine-cone.ts';
import { packsOf } from '../ledger/view/viewed-packs.ts';
import { applyStatements } from '../ledger/write/apply-statements.ts';
import { dropStaged } from '../ledger/write/drop-blocks.ts';
import { dropReferenced } from '../ledger/write/drop-referenced.ts';
import type { VerifiedMilestone } from '../ledger/write/milestone-changes.ts';
import { resolvePacks } from '../ledger/write/resolve-verdicts.ts';
import type { UnreferencedView } from '../ledger/write/unreferenced-index.ts';
import { equalBytes, toHex, toHexDigits } from '../stardust/encoding/bytes.ts';
import {
  appliedRoot,
  inclusionRoot,
  type Proposal,
  type WhiteFlag,
} from '../stardust/white-flag/walk.ts';
import { receiptOf } from '../stardust/wire/milestone.ts';
import { receiptFault } from '../stardust/wire/receipt.ts';
import type { FetchBlocks } from '../upstream/fetch-blocks.ts';
import { type Upstream, UpstreamFailure } from '../upstream/upstream.ts';
import type { AppliedMilestone, FollowerMemory } from './follower-context.ts';
import { findReferencedBefore, hasStagedRoot, type MismatchedWalk } from './store/leave-out.ts';
import { createMissingCone, isKnown, storeCone } from './store/store-cone.ts';
import { Divergence } from './verify-milestone.ts';

export interface ApplyTools {
  memory: FollowerMemory;
  rules: AdmissionRules;
  /** Of blocks that D1 does not have. */
  fetch: FetchBlocks;
  /**
   * The upstream that the milestone comes from, which is queried about blocks that earlier
   * milestones may have referenced. Absent: nobody is.
   */
  upstream?: Upstream | undefined;
  /** Unix milliseconds after which no further part of a large cone is begun. */
  deadline: number;
}

/**
 * Applies the milestone after the ledger's, whatever the size of its cone. Throws a Divergence when
 * the roots are not those of the milestone, a LedgerMoved when somebody else was first or replaced
 * the ledger, an UpstreamFailure when a block cannot be fetched, a ConeUnavailable, `over-budget`,
 * where the next pass continues, and whatever else `fetch` throws.
 *
 * @param head where the ledger stands, right before the milestone
 */
export async function applyMilestone(
  db: Database,
  head: Head,
  verified: VerifiedMilestone,
  tools: ApplyTools,
): Promise<AppliedMilestone> {
  const { memory } = tools;
  const parents = verified.milestone.parents.map(toHexDigits);
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const view = await memory.step('apply', () => memory.index.view(db, head, parents));
    const isHere = parents.every((id) => isKnown(view, id));
    const wanted = { milestone: toHexDigits(verified.id), parents, view };
    const fetched = isHere ? 0 : await storeMissing(db, head, wanted, tools);
    const applied = await memory.step('apply', () => applyStored(db, verified, parents, tools));
    if (applied !== undefined && 'order' in applied)
      await leaveOut(db, applied, verified, tools, tries > 1);
    else if (applied !== undefined) return { ...applied, fetched };
    // blocks of the cone were dropped: the walk begins again
    memory.missing = undefined;
  }
  throw new ConeUnavailable('over-budget', 'blocks of the cone are gone again');
}

/**
 * How often blocks of the cone may be found dropped, by others or as an earlier milestone referenced
 * them, before the next pass continues.
 */
const MAX_TRIES = 3;

interface WantedCone {
  /** Hex IDs of the milestone and of its parents. */
  milestone: string;
  parents: readonly string[];
  /** Of the parents. */
  view: UnreferencedView;
}

/** Stores what D1 does not have of the cone. Returns how many blocks that were. */
async function storeMissing(
  db: Database,
  head: Head,
  { milestone, parents, view }: WantedCone,
  tools: ApplyTools,
): Promise<number> {
  const { memory } = tools;
  if (memory.missing?.milestone !== milestone)
    memory.missing = createMissingCone(head, { milestone, parents });
  const { missing } = memory;
  try {
    await storeCone(db, head, missing, { ...tools, view });
  } catch (error) {
    if (error instanceof ConeUnavailable && error.fault === 'unknown-block')
      throw new UpstreamFailure(error.message);
    throw error;
  }
  return missing.stored;
}

/**
 * Drops the blocks of the cone that an earlier milestone referenced. Where there are none, as far as
 * the upstream says, staged blocks that rest on the word of an upstream are dropped, and a
 * Divergence is thrown.
 *
 * @param isRetry false: what was dropped may have rested on the word of another upstream, so nothing
 *   is thrown
 */
async function leaveOut(
  db: Database,
  mismatched: MismatchedWalk,
  { milestone }: VerifiedMilestone,
  { memory, upstream }: ApplyTools,
  isRetry: boolean,
): Promise<void> {
  const { view, order, root } = mismatched;
  const { saidOfNumbers } = memory.upstreams;
  const before = upstream && (await findReferencedBefore(db, mismatched, upstream, saidOfNumbers));
  if (before !== undefined) {
    await memory.step('apply', () => dropReferenced(db, view, before));
    const fields = { index: milestone.index, blocks: before.size };
    return memory.log('warn', 'follower.blocks-referenced-before', fields);
  }
  const restsOnWord = hasStagedRoot(view);
  if (restsOnWord) await memory.step('apply', () => dropStaged(db, view));
  if (restsOnWord && !isRetry) return;
  const computed = toHex(inclusionRoot(view.cone, order));
  throw new Divergence(
    `milestone ${milestone.index}: inclusionMerkleRoot ${toHex(root)}, computed ${computed}`,
  );
}

/**
 * Steps in which one try to apply a milestone makes verdicts: up to 12 statements each, of the 1,000
 * that an invocation may run on D1.
 */
const MAX_RESOLVING_STEPS = 24;

/**
 * Undefined where D1 does not have the whole cone, or has dropped a part of it, as blocks of
 * another milestone with this index were staged in the same packs. The walk where its inclusion root
 * is not the signed one.
 */
async function applyStored(
  db: Database,
  verified: VerifiedMilestone,
  parents: readonly string[],
  { memory, rules }: ApplyTools,
): Promise<AppliedMilestone | MismatchedWalk | undefined> {
  const { index, inclusionMerkleRoot: root } = verified.milestone;
  const left = { steps: MAX_RESOLVING_STEPS };
  for (;;) {
    const view = await readView(db, { index, named: parents, withStaged: true });
    if (view === undefined) throw new LedgerMoved('there is no ledger any more');
    const { head, packs } = view;
    const whiteFlag = walkView(view, parents, proposalOf(verified, head));
    if (whiteFlag === undefined) return undefined;
    if (head.ledger !== index - 1) throw new LedgerMoved(`the ledger is at ${head.ledger} already`);
    const { order, undecided } = whiteFlag;
    // before a verdict is made: blocks too many may wait for outputs that are long gone
    if (!equalBytes(inclusionRoot(view.cone, order), root)) return { view, order, root };
    const tools = { index: memory.index, head, verify: rules.verify };
    const made = await resolvePacks(db, tools, packsOf(packs, undecided), left);
    if (made > 0) continue;
    return unlessMoved(db, head, index - 1, () =>
      apply(db, verified, view, whiteFlag, { memory, rules }),
    );
  }
}

function proposalOf(
  { milestone: { index, timestamp, previousMilestoneId } }: VerifiedMilestone,
  { genesis }: Head,
): Omit<Proposal, 'parents'> {
  return {
    timestamp,
    previousMilestoneId: index === genesis + 1 ? undefined : previousMilestoneId,
  };
}

async function apply(
  db: Database,
  verified: VerifiedMilestone,
  view: ConsistentView,
  whiteFlag: WhiteFlag,
  { memory, rules }: Pick<ApplyTools, 'memory' | 'rules'>,
): Promise<AppliedMilestone | undefined> {
  const { milestone } = verified;
  const { index } = milestone;
  const { head, cone, packs } = view;
  const [undecided] = packsOf(packs, whiteFlag.undecided);
  // the walk found all that these transactions consume, so the verdict can be made
  if (undecided !== undefined) throw new LedgerDamaged(`verdicts of pack ${undecided}`);
  if (!(await meetsPreviousMilestone(db, view, whiteFlag, async () => rules)))
    throw new Divergence(`the cone of milestone ${index} has no block of the one before`);
  const root = appliedRoot(cone, whiteFlag);
  if (!equalBytes(root, milestone.appliedMerkleRoot)) {
    const signed = toHex(milestone.appliedMerkleRoot);
    throw new Divergence(
      `milestone ${index}: appliedMerkleRoot ${signed}, computed ${toHex(root)}`,
    );
  }
  checkReceipt(verified, view);
  const changes = await applyStatements(db, verified, view, whiteFlag);
  if (changes === undefined) {
    await dropStaged(db, view);
    memory.missing = undefined;
    return undefined;
  }
  const { statements, left } = changes;
  const { given } = await runFenced(db, { writes: write(statements), given: selectGiven(db) });
  const after = { ledger: index, dropped: head.dropped, stored: given.nextBlock };
  memory.index.retain(view, after, left);
  return { index, blocks: whiteFlag.order.length, fetched: 0 };
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
