/**
 * The past cone of a proposal for the white flag (walk.ts): blocks with their parents and the
 * outputs that they consume and create. src/ledger/packs/record-cone.ts has it over D1’s records.
 */

/**
 * Milestone: the block properly carries one (M-2 to M-5). UnverifiedMilestone: the keys known at
 * intake do not verify its milestone payload. Anybody can make one up without proof of work; it
 * counts only once a walk that looks for its ID verifies it.
 */
export const BlockKind = {
  Plain: 0,
  Milestone: 1,
  Transaction: 2,
  UnverifiedMilestone: 3,
} as const;

/**
 * Blocks are named by their position in the cone, parents and outputs by numbers that the keeper of
 * the blocks chose; `find` tells the position of a parent's number.
 */
export interface Cone {
  /** Blocks, excluded ones too. */
  readonly size: number;
  /** The position of a number, or -1 for a block that is not in the cone, or excluded from it. */
  find(number: number): number;
  numberAt(position: number): number;
  parentCountAt(position: number): number;
  parentAt(position: number, parent: number): number;
  /** A value of BlockKind. */
  kindAt(position: number): number;
  /** Writes the block's Merkle leaf into `target`, as 8 words from `at` on. */
  copyLeaf(position: number, target: Uint32Array, at: number): void;
  /** The ID of the milestone that the block carries; only for the two kinds that carry one. */
  milestoneIdAt(position: number): Uint8Array;
  /** Only for transactions. */
  transactionAt(position: number): TransactionView;
  /** An empty map from numbers of outputs to int32. */
  newOutputMap(): OutputMap;
}

export interface OutputMap {
  get(output: number): number | undefined;
  set(output: number, value: number): void;
}

export interface TransactionView {
  readonly inputCount: number;
  readonly outputCount: number;
  inputAt(i: number): number;
  outputAt(i: number): number;
  /** Conflict reason at a milestone of this timestamp; undefined while undecided. */
  reasonAt(timestamp: number): number | undefined;
}

/** The outputs that the block's transaction consumes; none where it carries no transaction. */
export function inputsAt(cone: Cone, position: number): number[] {
  if (cone.kindAt(position) !== BlockKind.Transaction) return [];
  const transaction = cone.transactionAt(position);
  return Array.from({ length: transaction.inputCount }, (_, i) => transaction.inputAt(i));
}

/** The outputs that the block's transaction creates; none where it carries no transaction. */
export function outputsAt(cone: Cone, position: number): number[] {
  if (cone.kindAt(position) !== BlockKind.Transaction) return [];
  const transaction = cone.transactionAt(position);
  return Array.from({ length: transaction.outputCount }, (_, i) => transaction.outputAt(i));
}

/** Whether the block carries a transaction without a verdict. */
export function isUndecidedAt(cone: Cone, position: number): boolean {
  return (
    cone.kindAt(position) === BlockKind.Transaction &&
    cone.transactionAt(position).reasonAt(0) === undefined
  );
}
