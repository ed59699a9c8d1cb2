/** One call of the publisher under way: its tools, its budget, and its state. */
import { STATEMENTS } from './d1-ledger.ts';
import type { IndexLedger, IndexStore } from './ports.ts';
import type { IndexHead, State } from './publisher-state.ts';
import { KV_CACHE_TTL_S } from './timing-assumptions.ts';

/**
 * Budget of a call: 4 operations and 20 statements at least. The platform allows an invocation
 * 1,000 of each (https://developers.cloudflare.com/kv/platform/limits/,
 * https://developers.cloudflare.com/d1/platform/limits/).
 */
export interface Budget {
  operations: number;
  /** Statements in D1. */
  statements: number;
}

/** How much `recent` may hold. Tests set less than the real bounds. */
export interface RecentBounds {
  states: number;
  changes: number;
}

/**
 * Reason why a step ended early; the next call continues. 'another publisher' and 'ledger replaced'
 * end the whole call, as its state is out of date.
 */
export type Stop =
  | 'budget spent'
  | 'too soon'
  | 'another publisher'
  | 'ledger replaced'
  | 'ledger set back'
  | 'KV too slow'
  | 'seal not seen';
export type StepResult = 'done' | Stop;

export interface PublishRun {
  readonly ledger: IndexLedger;
  readonly store: IndexStore;
  readonly clock: () => number;
  readonly bounds: RecentBounds;
  /** Awaited after each put (src/platform/clock.ts). */
  readonly endStep: () => Promise<void>;
  readonly head: IndexHead;
  readonly left: Budget;
  /** Version of the Worker, which binds the namespace. */
  readonly version: string | undefined;
  token: string | undefined;
  state: State;
  /** Whether this call saw the seal; undefined before it was looked for. */
  isSealSeen?: boolean;
}

/**
 * Returns whether the bound namespace is the one that the entries were put into: it has the seal.
 * Read once a call. An absent seal proves nothing before every copy must have it.
 */
export async function seesSeal(run: PublishRun, seal: string): Promise<boolean> {
  if (run.isSealSeen !== undefined) return run.isSealSeen;
  run.left.operations -= 1;
  const value = await run.store.get(seal, { type: 'text', cacheTtl: KV_CACHE_TTL_S });
  run.isSealSeen = value !== null;
  return run.isSealSeen;
}

/** Writes the next state, unless another publisher has written one since ours was read. */
export async function swapState(
  run: PublishRun,
  state: State,
): Promise<'done' | 'another publisher'> {
  const token = crypto.randomUUID();
  run.left.statements -= STATEMENTS.swap;
  if (!(await run.ledger.swap(run.token, { token, state }))) return 'another publisher';
  run.token = token;
  run.state = state;
  return 'done';
}
