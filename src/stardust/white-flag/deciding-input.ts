/**
 * Finds which input decided that a transaction is in conflict, where the ledger did: one that is
 * unknown, or was spent (docs/protocol.md, D.1). The walk itself (walk.ts) keeps only reasons.
 */
import { ConflictReason, rulesOf } from '../semantics/verdict.ts';
import { type Cone, inputsAt, outputsAt } from './cone.ts';
import { LedgerState, type LedgerStates, type WhiteFlag } from './walk.ts';

export interface DecidingInput {
  /** Place among the transaction's inputs, from 0. */
  input: number;
  /** Where it was spent earlier in this milestone: the place of that block in white-flag order. */
  spentBy: number | undefined;
  /** Rule of docs/protocol.md, D.1. */
  rule: string;
}

/** Returns inputs by place in white-flag order. Throws an Error if reasons do not fit. */
export function findDecidingInputs(
  cone: Cone,
  { order, reasons }: WhiteFlag,
  ledger: LedgerStates,
): Map<number, DecidingInput> {
  const found = new Map<number, DecidingInput>();
  const created = new Set<number>();
  const spent = new Map<number, number>();
  for (const [place, position] of order.entries()) {
    const reason = reasons[place]!;
    if (reason === ConflictReason.None) {
      for (const output of outputsAt(cone, position)) created.add(output);
      for (const output of inputsAt(cone, position)) spent.set(output, place);
    } else if (isOfLedger(reason)) {
      const inputs = inputsAt(cone, position);
      const input = inputs.findIndex(
        (output) =>
          spent.has(output) || (!created.has(output) && ledger.get(output) !== LedgerState.Unspent),
      );
      if (input < 0) throw new Error(`no input of block ${cone.numberAt(position)} decided`);
      found.set(place, { input, spentBy: spent.get(inputs[input]!), rule: rulesOf(reason) });
    }
  }
  return found;
}

/** Whether the ledger decided, and not the transaction itself. */
export function isOfLedger(reason: number): reason is 1 | 2 | 3 {
  return (
    reason === ConflictReason.InputAlreadySpent ||
    reason === ConflictReason.InputAlreadySpentInThisMilestone ||
    reason === ConflictReason.InputNotFound
  );
}
