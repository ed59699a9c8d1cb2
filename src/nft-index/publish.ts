/**
 * Publishing: what D1 has is projected into KV (design §4).
 *
 * A call does what is due and what its budget allows, in the order in which a lookup profits: the entries of new changes, `recent`, the entries whose turn has
 * come to be put again, and, after an import, the entries of all NFTs. The next call goes on where this one ended, however it ended. No answer depends on the
 * order of writes in KV, which keeps none (platform.md §1): what `recent` claims about entries was acknowledged long before (times.ts).
 *
 * Two publishers at once, as during a deployment: both may put, but only the one moves the state on that has seen its last change, and only what it moved on
 * from is believed. A publisher of a ledger that has been replaced meanwhile puts entries that name their ledger and so say nothing about the new one.
 */
import { openIndexLedger, STATEMENTS } from './d1-ledger.ts';
import type { IndexLedger, IndexStore } from './ports.ts';
import {
  type Bounds,
  type Budget,
  type Run,
  type Step,
  type Stop,
  swapState,
} from './publish-run.ts';
import { beginState, moveOn } from './publisher-state.ts';
import { putAgain, putAll, putChanged } from './put-entries.ts';
import { putRecent, RECENT_COSTS } from './put-recent.ts';
import { MAX_ANSWERS, MAX_OTHERS } from './recent-changes.ts';

export type { Budget, Stop } from './publish-run.ts';

export interface Published {
  /** Nothing is left to do now. If not, call again: at once, or in a second. */
  done: boolean;
  /** Why something is left, each reason once. */
  stops: Stop[];
  /** The ledger index of the newest `recent` that this ledger's publishers know of. */
  ledgerIndex: number | undefined;
  /** What was used up. */
  used: Budget;
}

const BOUNDS: Bounds = { answers: MAX_ANSWERS, others: MAX_OTHERS };

/** Projects the ledger into KV as far as the budget goes. Fails when D1 or KV does; the next call goes on. */
export function publish(
  ledger: D1Database,
  index: KVNamespace,
  clock: () => number,
  budget: Budget,
): Promise<Published> {
  return publishTo(openIndexLedger(ledger), index, clock, budget);
}

export async function publishTo(
  ledger: IndexLedger,
  store: IndexStore,
  clock: () => number,
  budget: Budget,
  bounds: Bounds = BOUNDS,
): Promise<Published> {
  const left = { ...budget };
  const used = () => ({
    operations: budget.operations - left.operations,
    statements: budget.statements - left.statements,
  });
  left.statements -= STATEMENTS.look;
  const { head, stored } = await ledger.look();
  if (head === undefined) return { done: true, stops: [], ledgerIndex: undefined, used: used() };

  const state = stored?.state ?? beginState(head.generation, head.start);
  const run: Run = { ledger, store, clock, bounds, head, left, token: stored?.token, state };
  const stops = await takeSteps(run, stored?.state === undefined);
  return { done: stops.length === 0, stops, ledgerIndex: run.state.recent?.to, used: used() };
}

async function takeSteps(run: Run, isNew: boolean): Promise<Stop[]> {
  const state = moveOn(run.state, run.head.ledger, run.clock());
  if (isNew || state !== run.state) {
    if (run.left.statements < STATEMENTS.swap) return ['budget spent'];
    const step = await swapState(run, state);
    if (step !== 'done') return [step];
  }
  const stops = new Set<Stop>();
  for (const take of [putChangedFirst, putRecent, putAgain, putAll]) {
    const step = await take(run);
    if (step !== 'done') stops.add(step);
    if (step === 'another publisher' || step === 'ledger replaced') break;
  }
  return [...stops];
}

function putChangedFirst(run: Run): Promise<Step> {
  return putChanged(run, RECENT_COSTS);
}
