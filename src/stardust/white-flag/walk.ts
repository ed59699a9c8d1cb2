/**
 * White flag: which blocks a milestone references, in which order, and what becomes of their transactions (TIP-0002, TIP-0004; protocol.md E.1–E.3, D.1).
 *
 * Works over two small interfaces: the blocks of the cone (record.ts) and the state of the outputs that they consume. Neither it nor they know
 * where the blocks come from. A parent outside the cone is one that an earlier milestone references, or a solid entry point: whoever makes the cone
 * answers for that.
 */
import { equalBytes } from '../bytes.ts';
import { reduceToRoot } from '../merkle.ts';
import { nobleTreeHasher } from '../tree-hasher/noble-tree-hasher.ts';
import type { TreeHasher } from '../tree-hasher/tree-hasher.ts';
import { RecordKind } from './block-record.ts';
import type { Cone, TransactionView } from './cone.ts';
import { RowMap } from './row-map.ts';

/** An output in the ledger's state before the milestone. Outputs that are neither are unknown there. */
export const LedgerState = { Unspent: 1, Spent: 2 } as const;

/** What became of an output within the milestone. */
const MilestoneState = { Created: 3, Spent: 4 } as const;

export interface LedgerStates {
  /** The state of the output with this row, undefined where the ledger never had it. */
  get(outputRow: number): number | undefined;
}

export interface Proposal {
  /** Rows of the parents, in the order given: it decides (E.1). */
  parents: readonly number[];
  /** Unix seconds: the time at which timelocks and expirations are judged. */
  timestamp: number;
  /** The previous milestone's ID, which must be met on the walk; undefined for the first milestone (E.3). */
  previousMilestoneId: Uint8Array | undefined;
}

export interface WhiteFlag {
  /** Positions in the cone, in white-flag order. */
  order: Uint32Array;
  /** Conflict reason of each block of the order, 0 where there is none; NOT_A_TRANSACTION for the other blocks. */
  reasons: Uint8Array;
  /** Whether a block that properly carries the previous milestone was visited. */
  metPreviousMilestone: boolean;
  /** Positions of transactions whose verdict is undecided and matters here; unless empty, the reasons say nothing. */
  undecided: number[];
}

/** In `reasons`: the block carries no transaction. No conflict reason has this number. */
export const NOT_A_TRANSACTION = 254;

/** Conflict reasons of the ledger lookup (D.0, D.1). */
const ALREADY_SPENT = 1;
const SPENT_IN_THIS_MILESTONE = 2;
const UNKNOWN_INPUT = 3;

export function walkCone(cone: Cone, ledger: LedgerStates, proposal: Proposal): WhiteFlag {
  const { order, metPreviousMilestone } = orderBlocks(cone, proposal);
  return { order, metPreviousMilestone, ...judgeInOrder(cone, order, ledger, proposal.timestamp) };
}

/** E.1: depth first, parents in their order, each block after all its parents; with a stack, as cones can be as deep as they are long. */
function orderBlocks(
  cone: Cone,
  { parents, previousMilestoneId }: Proposal,
): { order: Uint32Array; metPreviousMilestone: boolean } {
  const order = new Uint32Array(cone.size);
  const visited = new Uint8Array(cone.size);
  /** The blocks entered and not yet left, and how many of the parents of each have been seen to. */
  const stack = new Uint32Array(cone.size);
  const seen = new Uint8Array(cone.size);
  let ordered = 0;
  let metPreviousMilestone = previousMilestoneId === undefined;

  for (const parent of parents) {
    let depth = 0;
    let next = cone.find(parent);
    for (;;) {
      if (next >= 0 && visited[next] === 0) {
        visited[next] = 1;
        // E.3 (b), on the way down
        metPreviousMilestone ||=
          cone.kindAt(next) === RecordKind.Milestone &&
          equalBytes(cone.milestoneIdAt(next), previousMilestoneId!);
        stack[depth++] = next;
      }
      if (depth === 0) break;
      const block = stack[depth - 1]!;
      if (seen[block]! < cone.parentCountAt(block)) {
        next = cone.find(cone.parentAt(block, seen[block]!++));
      } else {
        order[ordered++] = block;
        depth--;
        next = -1;
      }
    }
  }
  return { order: order.subarray(0, ordered), metPreviousMilestone };
}

/** E.2: the blocks one after the other, each transaction on what the ones before it left. */
function judgeInOrder(
  cone: Cone,
  order: Uint32Array,
  ledger: LedgerStates,
  timestamp: number,
): { reasons: Uint8Array; undecided: number[] } {
  const reasons = new Uint8Array(order.length);
  const undecided: number[] = [];
  const changes = new RowMap();

  for (let i = 0; i < order.length; i++) {
    const position = order[i]!;
    if (cone.kindAt(position) !== RecordKind.Transaction) {
      reasons[i] = NOT_A_TRANSACTION;
      continue;
    }
    const transaction = cone.transactionAt(position);
    const reason = lookUpInputs(transaction, ledger, changes) || transaction.reasonAt(timestamp);
    if (reason === undefined) {
      undecided.push(position);
      continue;
    }
    reasons[i] = reason;
    if (reason !== 0) continue;
    for (let k = 0; k < transaction.outputCount; k++)
      changes.set(transaction.outputAt(k), MilestoneState.Created);
    for (let k = 0; k < transaction.inputCount; k++)
      changes.set(transaction.inputAt(k), MilestoneState.Spent);
  }
  return { reasons, undecided };
}

/** D.1, L-1 to L-5: the inputs in their order, the first that fails decides. */
function lookUpInputs(transaction: TransactionView, ledger: LedgerStates, changes: RowMap): number {
  for (let i = 0; i < transaction.inputCount; i++) {
    const output = transaction.inputAt(i);
    const change = changes.get(output);
    if (change === MilestoneState.Spent) return SPENT_IN_THIS_MILESTONE;
    if (change === MilestoneState.Created) continue;
    const state = ledger.get(output);
    if (state === undefined) return UNKNOWN_INPUT;
    if (state === LedgerState.Spent) return ALREADY_SPENT;
  }
  return 0;
}

export interface MerkleRoots {
  /** Over all blocks referenced (B.13). */
  inclusionMerkleRoot: Uint8Array;
  /** Over those whose transactions were applied. */
  appliedMerkleRoot: Uint8Array;
}

/** @param hasher works out the trees; noble's wherever a root is held against a signed one */
export function computeRoots(
  cone: Cone,
  { order, reasons }: WhiteFlag,
  hasher: TreeHasher = nobleTreeHasher,
): MerkleRoots {
  // one after the other in the same place
  const leaves = new Uint32Array(order.length * 8);
  order.forEach((position, i) => {
    cone.copyLeaf(position, leaves, i * 8);
  });
  const inclusionMerkleRoot = reduceToRoot(leaves, order.length, hasher);

  let applied = 0;
  order.forEach((position, i) => {
    if (reasons[i] === 0) cone.copyLeaf(position, leaves, 8 * applied++);
  });
  return { inclusionMerkleRoot, appliedMerkleRoot: reduceToRoot(leaves, applied, hasher) };
}
