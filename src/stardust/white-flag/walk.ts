/**
 * White flag: which blocks a milestone references, in which order, and which of their transactions
 * are applied (TIP-0002, TIP-0004; docs/protocol.md, D.1 and E.1 to E.3). The input is the past
 * cone (cone.ts) and the state of the outputs that its transactions consume. A parent outside the
 * cone counts as referenced by an earlier milestone or as a solid entry point: whoever makes the
 * cone is responsible that this is true.
 */
import { equalBytes } from '../encoding/bytes.ts';
import { reduceToRoot } from '../proof/merkle.ts';
import { ConflictReason } from '../semantics/verdict.ts';
import { BlockKind, type Cone, type OutputMap, type TransactionView } from './cone.ts';

/** State of an output before the milestone. The ledger does not know other outputs. */
export const LedgerState = { Unspent: 1, Spent: 2 } as const;

/** Effects of this milestone's transactions on an output. */
const MilestoneState = { Created: 3, Spent: 4 } as const;

export interface LedgerStates {
  /** The state of the output with this number; undefined if the ledger never held it. */
  get(output: number): number | undefined;
}

export interface Proposal {
  /** Numbers of the parents in the order of the request, which decides that of the blocks (E.1). */
  parents: readonly number[];
  /** Unix seconds; decides timelocks and expirations. */
  timestamp: number;
  /** ID of the milestone whose block the walk must meet (E.3); undefined for the first. */
  previousMilestoneId: Uint8Array | undefined;
  /** Whether rivals of a transaction without a verdict need one too: it may fail. Default: none. */
  mayFail?: boolean | undefined;
}

export interface WhiteFlag {
  /** Positions in the cone of the referenced blocks, in white-flag order. */
  order: Uint32Array;
  /** Conflict reason of each block in `order`, 0 if applied; NOT_A_TRANSACTION without one. */
  reasons: Uint8Array;
  /** Whether the walk visited a block that properly carries the previous milestone (E.3). */
  metPreviousMilestone: boolean;
  /**
   * Positions of blocks with the previous milestone's payload, unverified at intake. If one of them
   * is verified now, the previous milestone is in the cone after all.
   */
  unverified: number[];
  /**
   * Positions of transactions that lack a verdict and need one, where those before them do not
   * fail, or may fail: unless empty, `reasons` must not be used.
   */
  undecided: number[];
}

/** Entry of `reasons` for a block without a transaction; no conflict reason. */
export const NOT_A_TRANSACTION = 254;

export function walkCone(cone: Cone, ledger: LedgerStates, proposal: Proposal): WhiteFlag {
  const ordered = orderCone(cone, proposal);
  return { ...ordered, ...judgeInOrder(cone, ordered.order, ledger, proposal) };
}

/** E.1 and E.3 (b). */
function orderCone(
  cone: Cone,
  { parents, previousMilestoneId }: Proposal,
): Pick<WhiteFlag, 'order' | 'metPreviousMilestone' | 'unverified'> {
  const order = orderParentsFirst(parents.map(cone.find), {
    size: cone.size,
    parentCountAt: cone.parentCountAt,
    parentAt: (block, parent) => cone.find(cone.parentAt(block, parent)),
  });
  let metPreviousMilestone = previousMilestoneId === undefined;
  const unverified: number[] = [];
  for (let i = 0; i < order.length && !metPreviousMilestone; i++) {
    const position = order[i]!;
    if (!carriesPrevious(cone, position, previousMilestoneId!)) continue;
    if (cone.kindAt(position) === BlockKind.Milestone) metPreviousMilestone = true;
    else unverified.push(position);
  }
  return { order, metPreviousMilestone, unverified };
}

function carriesPrevious(cone: Cone, position: number, milestoneId: Uint8Array): boolean {
  const kind = cone.kindAt(position);
  return (
    (kind === BlockKind.Milestone || kind === BlockKind.UnverifiedMilestone) &&
    equalBytes(cone.milestoneIdAt(position), milestoneId)
  );
}

/** E.2: judges the transactions in white-flag order, each on the ledger that the last one left. */
function judgeInOrder(
  cone: Cone,
  order: Uint32Array,
  ledger: LedgerStates,
  { timestamp, mayFail }: Proposal,
): { reasons: Uint8Array; undecided: number[] } {
  const reasons = new Uint8Array(order.length);
  const undecided: number[] = [];
  const changes = cone.newOutputMap();

  for (let i = 0; i < order.length; i++) {
    const position = order[i]!;
    if (cone.kindAt(position) !== BlockKind.Transaction) {
      reasons[i] = NOT_A_TRANSACTION;
      continue;
    }
    const transaction = cone.transactionAt(position);
    const reason = lookUpInputs(transaction, ledger, changes) || transaction.reasonAt(timestamp);
    if (reason === undefined) undecided.push(position);
    else reasons[i] = reason;
    if (reason) continue;
    for (let k = 0; k < transaction.outputCount; k++)
      changes.set(transaction.outputAt(k), MilestoneState.Created);
    if (mayFail && undecided.length > 0) continue;
    for (let k = 0; k < transaction.inputCount; k++)
      changes.set(transaction.inputAt(k), MilestoneState.Spent);
  }
  return { reasons, undecided };
}

/** D.1, L-1 to L-5: looks up the inputs in order; the first that is missing or spent decides. */
function lookUpInputs(
  transaction: TransactionView,
  ledger: LedgerStates,
  changes: OutputMap,
): ConflictReason {
  for (let i = 0; i < transaction.inputCount; i++) {
    const output = transaction.inputAt(i);
    const change = changes.get(output);
    // L-1
    if (change === MilestoneState.Spent) return ConflictReason.InputAlreadySpentInThisMilestone;
    // L-2
    if (change === MilestoneState.Created) continue;
    // L-3, L-4, L-5
    const state = ledger.get(output);
    if (state === undefined) return ConflictReason.InputNotFound;
    if (state === LedgerState.Spent) return ConflictReason.InputAlreadySpent;
  }
  return ConflictReason.None;
}

/** 32 bytes each. */
export interface MerkleRoots {
  /** Root over all referenced blocks (B.13). */
  inclusionMerkleRoot: Uint8Array;
  /** Root over the referenced blocks whose transactions are applied (B.13). */
  appliedMerkleRoot: Uint8Array;
}

export function computeRoots(cone: Cone, { order, reasons }: WhiteFlag): MerkleRoots {
  return {
    inclusionMerkleRoot: inclusionRoot(cone, order),
    appliedMerkleRoot: appliedRoot(cone, { order, reasons }),
  };
}

/** @param order positions of the referenced blocks, in white-flag order */
export function inclusionRoot(cone: Cone, order: Uint32Array): Uint8Array {
  const leaves = new Uint32Array(order.length * 8);
  order.forEach((position, i) => {
    cone.copyLeaf(position, leaves, i * 8);
  });
  return reduceToRoot(leaves, order.length);
}

export function appliedRoot(
  cone: Cone,
  { order, reasons }: Pick<WhiteFlag, 'order' | 'reasons'>,
): Uint8Array {
  const applied = order.filter((_, i) => reasons[i] === ConflictReason.None);
  return inclusionRoot(cone, applied);
}

/** Blocks have indexes from 0 on. */
export interface BlockGraph {
  size: number;
  parentCountAt(block: number): number;
  /** The index of a parent; -1 where the walk stops. */
  parentAt(block: number, parent: number): number;
}

/**
 * Returns `tops` and all their ancestors in white-flag order (E.1): depth first, parents in order,
 * each block after all its parents; indexes of -1 are skipped. With a stack instead of recursion: a
 * past cone may be a single chain.
 */
export function orderParentsFirst(
  tops: Iterable<number>,
  { size, parentCountAt, parentAt }: BlockGraph,
): Uint32Array {
  const order = new Uint32Array(size);
  const entered = new Uint8Array(size);
  /** Blocks whose parents are not all done, and for each block how many of its parents are. */
  const stack = new Uint32Array(size);
  const done = new Uint8Array(size);
  let ordered = 0;
  for (const top of tops) {
    let depth = 0;
    let next = top;
    for (;;) {
      if (next >= 0 && entered[next] === 0) {
        entered[next] = 1;
        stack[depth++] = next;
      }
      if (depth === 0) break;
      const block = stack[depth - 1]!;
      if (done[block]! < parentCountAt(block)) {
        next = parentAt(block, done[block]!++);
      } else {
        order[ordered++] = block;
        depth--;
        next = -1;
      }
    }
  }
  return order.subarray(0, ordered);
}
