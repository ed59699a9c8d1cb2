/**
 * One call of the publisher under way: what it works on, what it may still spend, and how its state moves on.
 */
import type { Head } from '../ledger/head.ts';
import { STATEMENTS } from './d1-ledger.ts';
import type { IndexLedger, IndexStore } from './ports.ts';
import type { State } from './publisher-state.ts';

/** What a call may use of the platform's limits an invocation (platform.md §1: 1,000 each). With less than 4 operations and 20 statements it gets nowhere. */
export interface Budget {
  /** Reads and writes of KV. */
  operations: number;
  /** Statements in D1. */
  statements: number;
}

/** How far `recent` goes; less than the real bounds in tests. */
export interface Bounds {
  answers: number;
  others: number;
}

/**
 * Why a step ended before its work was done. After another publisher or a replaced ledger the whole call ends, as what it knows is out of date. The next call
 * goes on in any case.
 */
export type Stop =
  | 'budget spent'
  | 'too soon'
  | 'another publisher'
  | 'ledger replaced'
  | 'KV too slow';
export type Step = 'done' | Stop;

export interface Run {
  readonly ledger: IndexLedger;
  readonly store: IndexStore;
  readonly clock: () => number;
  readonly bounds: Bounds;
  readonly head: Pick<Head, 'generation' | 'start' | 'ledger'>;
  readonly left: Budget;
  token: string | undefined;
  state: State;
}

/** Moves the state on, unless another publisher has done so since it was read. */
export async function swapState(run: Run, state: State): Promise<'done' | 'another publisher'> {
  const token = crypto.randomUUID();
  run.left.statements -= STATEMENTS.swap;
  if (!(await run.ledger.swap(run.token, { token, state }))) return 'another publisher';
  run.token = token;
  run.state = state;
  return 'done';
}
