/**
 * Applies one verified milestone from D1: reads one view, walks it, compares both roots with the
 * signed ones, and writes all that the milestone changes in one batch behind a fence
 * (docs/protocol.md, E.5). Equal roots commit to every block of the cone in its order, so nothing
 * that an upstream sent can have been added, left out or changed. Where D1 lacks something, nothing
 * is changed, and the caller is told what (complete-milestone.ts).
 */
import type { Database } from '../ledger/core/database.ts';
import { LedgerMoved, runFenced, unlessMoved } from '../ledger/core/fence.ts';
import type { Head } from '../ledger/core/head.ts';
import { parametersAt } from '../ledger/core/ledger-parameters.ts';
import { write } from '../ledger/core/read-batch.ts';
import { selectGiven } from '../ledger/packs/next-numbers.ts';
import {
  findInCone,
  type LeftBlocks,
  numbersByPack,
  stagedRoots,
} from '../ledger/packs/viewed-packs.ts';
import {
  FOLLOWER_PACKS_AT_ONCE,
  meetsPreviousMilestone,
  readBlocksInSteps,
} from '../ledger/view/cone-blocks.ts';
import { type ConsistentView, readView, walkView } from '../ledger/view/consistent-view.ts';
import { applyStatements } from '../ledger/write/apply-statements.ts';
import type { VerifiedMilestone } from '../ledger/write/milestone-changes.ts';
import { equalBytes, toHex, toHexDigits } from '../stardust/encoding/bytes.ts';
import type { MilestoneRules } from '../stardust/milestone-keys.ts';
import { appliedRoot, inclusionRoot, type WhiteFlag } from '../stardust/white-flag/walk.ts';
import { receiptOf } from '../stardust/wire/milestone.ts';
import { receiptFault } from '../stardust/wire/receipt.ts';
import { Divergence } from './verify-milestone.ts';

/** A walk over the milestone's past cone whose inclusion root is the signed one. */
interface Walked {
  kind: 'walked';
  view: ConsistentView;
  whiteFlag: WhiteFlag;
}

/** A walk whose inclusion root is not the signed one. */
export interface RootDiffers {
  kind: 'root-differs';
  view: ConsistentView;
  /** Positions in the view's cone, in white-flag order. */
  order: Uint32Array;
  root: Uint8Array;
}

type WalkOutcome =
  | Walked
  /** D1 does not have the whole past cone. */
  | { kind: 'blocks-missing' }
  /** `waiting`: numbers of the `undecided` transactions' blocks, by the keys of their packs. */
  | { kind: 'verdicts-missing'; head: Head; waiting: [number, number[]][]; undecided: number }
  | RootDiffers;

interface Applied {
  kind: 'applied';
  blocks: number;
  view: ConsistentView;
  /** The ledger now. `stored`: the highest next_block of a live pack. */
  after: { ledger: number; dropped: number; stored: number | null };
  left: LeftBlocks;
}

/** Nothing was written unless the kind is `applied`. */
export type ApplyOutcome =
  | Exclude<WalkOutcome, Walked>
  | Applied
  /**
   * Blocks that another milestone with this index led to are in packs with blocks of this one, or
   * the record of a staged block lacks a parent.
   */
  | { kind: 'staged-for-another'; view: ConsistentView };

/**
 * Applies the milestone after the ledger's, whatever the size of its cone. Throws a Divergence if
 * only the inclusion root is right, and a LedgerMoved if another writer was first.
 *
 * @param ends hex IDs of parents that count as referenced before where they are unknown
 */
export async function applyMilestone(
  db: Database,
  verified: VerifiedMilestone,
  rules: MilestoneRules,
  ends?: Pick<ReadonlySet<string>, 'has'>,
): Promise<ApplyOutcome> {
  const walked = await walkMilestone(db, verified, ends);
  if (walked.kind !== 'walked') return walked;
  const { view, whiteFlag } = walked;
  const { index } = verified.milestone;
  return unlessMoved(db, view.head, index - 1, () => apply(db, verified, view, whiteFlag, rules));
}

/** Walks over the milestone's past cone, as D1 has it. Throws a LedgerMoved. */
export async function walkMilestone(
  db: Database,
  verified: VerifiedMilestone,
  ends?: Pick<ReadonlySet<string>, 'has'>,
): Promise<WalkOutcome> {
  const { index, inclusionMerkleRoot: root, timestamp, previousMilestoneId } = verified.milestone;
  const named = verified.milestone.parents.map(toHexDigits);
  const view = await readView(db, { index, named, withStaged: true });
  if (view === undefined) throw new LedgerMoved('there is no ledger any more');
  const parents = named.filter((id) => view.named.has(id) || !ends?.has(id));
  const { head } = view;
  const previous = index === head.genesis + 1 ? undefined : previousMilestoneId;
  const proposal = { timestamp, previousMilestoneId: previous, mayFail: true };
  const whiteFlag = walkView(view, parents, proposal);
  if (whiteFlag === undefined) return { kind: 'blocks-missing' };
  if (head.ledger !== index - 1) throw new LedgerMoved(`the ledger is at ${head.ledger} already`);
  const { order, undecided } = whiteFlag;
  // before a verdict is made: blocks too many may wait for outputs that are long gone
  if (!equalBytes(inclusionRoot(view.cone, order), root))
    return { kind: 'root-differs', view, order, root };
  if (undecided.length === 0) return { kind: 'walked', view, whiteFlag };
  const waiting = numbersByPack(view, undecided);
  return { kind: 'verdicts-missing', head, waiting, undecided: undecided.length };
}

async function apply(
  db: Database,
  verified: VerifiedMilestone,
  view: ConsistentView,
  whiteFlag: WhiteFlag,
  rules: MilestoneRules,
): Promise<Exclude<ApplyOutcome, WalkOutcome>> {
  const { milestone } = verified;
  const { index } = milestone;
  const { head, cone } = view;
  if (!(await meetsPreviousMilestone(db, view, whiteFlag, rules)))
    throw new Divergence(`the cone of milestone ${index} has no block of the one before`);
  const root = appliedRoot(cone, whiteFlag);
  if (!equalBytes(root, milestone.appliedMerkleRoot)) {
    const signed = toHex(milestone.appliedMerkleRoot);
    throw new Divergence(
      `milestone ${index}: appliedMerkleRoot ${signed}, computed ${toHex(root)}`,
    );
  }
  checkReceipt(verified, view);
  if (await lacksParent(db, view)) return { kind: 'staged-for-another', view };
  const changes = await applyStatements(db, verified, view, whiteFlag);
  if (changes === undefined) return { kind: 'staged-for-another', view };
  const { statements, left } = changes;
  const { given } = await runFenced(db, { writes: write(statements), given: selectGiven(db) });
  const after = { ledger: index, dropped: head.dropped, stored: given.nextBlock };
  return { kind: 'applied', blocks: whiteFlag.order.length, view, after, left };
}

/** Parents that are looked up in a cone at once: 300 bytes each. */
const ENDS_AT_ONCE = 10_000;

/**
 * Whether a parent of a staged block is in the cone and not in the block's record: its upstream
 * called it referenced, and it was stored since. Another way leads to it, so the roots are right;
 * in the roots that are computed from these records later it would be missing.
 */
async function lacksParent(db: Database, view: ConsistentView): Promise<boolean> {
  const { cone } = view;
  const cut = stagedRoots(view);
  const numbers = cut.map(cone.numberAt);
  const ends = new Set<string>();
  for await (const [i, { block }] of readBlocksInSteps(db, view, numbers, FOLLOWER_PACKS_AT_ONCE)) {
    for (const [n, parent] of block.parents.entries())
      if (cone.parentAt(cut[i]!, n) === 0) ends.add(toHexDigits(parent));
    if (ends.size < ENDS_AT_ONCE) continue;
    if (findInCone(cone, ends).size > 0) return true;
    ends.clear();
  }
  return findInCone(cone, ends).size > 0;
}

/** Checks the receipt with the parameters in force at the ledger's index (E.5, 4). */
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
