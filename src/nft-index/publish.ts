/**
 * The publisher: it projects D1 into KV. A call does what is due, within its budget, in the order
 * in which lookups profit: `recent`, the entries of due changes, and, after an import, the entries
 * of all NFTs. The next call continues. KV does not keep the order of writes, and no answer depends
 * on it: what `recent` claims about entries was acknowledged long before (timing-assumptions.ts).
 *
 * Two publishers may run at once, as during a deployment. Both may put entries, but only the one
 * that has seen the last change of the state may write the next. If its ledger was replaced
 * meanwhile, its entries name their ledger, and so say nothing about the new one.
 */
import { hasPassed, takeTurns, untilSettled } from '../platform/clock.ts';
import { STATEMENTS } from './d1-ledger.ts';
import type { IndexLedger, IndexStore } from './ports.ts';
import {
  type Budget,
  type PublishRun,
  type RecentBounds,
  type Stop,
  swapState,
} from './publish-run.ts';
import {
  advanceState,
  beginState,
  clampTimes,
  discardEntries,
  lastPut,
} from './publisher-state.ts';
import { putAllEntries, putChanged } from './put-entries.ts';
import { putRecent } from './put-recent.ts';
import { MAX_STATES, MAX_WINDOW_CHANGES, RECENT_KEY, readRecent } from './recent-changes.ts';
import {
  KV_CACHE_TTL_S,
  MAX_WRITE_AGE_MS,
  PUT_WITHIN_MS,
  SETTLING_TIME_MS,
} from './timing-assumptions.ts';

export type { Budget, Stop } from './publish-run.ts';

export interface Published {
  /** Whether nothing is left to do now. If false, call again: at once, or in a second. */
  done: boolean;
  /** Reasons why something is left, each once. */
  stops: Stop[];
  /** The ledger index of the newest `recent` that was put for this ledger; undefined: none was. */
  ledgerIndex: number | undefined;
  used: Budget;
}

const BOUNDS: RecentBounds = { states: MAX_STATES, changes: MAX_WINDOW_CHANGES };

/**
 * Projects the ledger into KV as far as the budget goes. Rejects if D1 or KV fails; the next call
 * continues.
 *
 * @param clock Unix milliseconds
 */
export async function publish(
  ledger: IndexLedger,
  store: IndexStore,
  clock: () => number,
  budget: Budget,
  version?: string,
  bounds = BOUNDS,
): Promise<Published> {
  const left = { ...budget };
  const used = () => ({
    operations: budget.operations - left.operations,
    statements: budget.statements - left.statements,
  });
  left.statements -= STATEMENTS.readState;
  const { head, stored } = await ledger.readState();
  if (head === undefined) return { done: true, stops: [], ledgerIndex: undefined, used: used() };

  const state = stored?.state ?? beginState(head);
  const inTime: IndexStore = {
    get: (...given) => untilLate(store.get(...given)),
    put: (...given) => untilLate(store.put(...given)),
  };
  const tools = { ledger, store: inTime, clock, bounds, endStep: takeTurns(), version };
  const run: PublishRun = { ...tools, head, left, token: stored?.token, state };
  const isBack = await isSetBack(run);
  const stops = isBack ? ['ledger set back' as const] : await takeSteps(run, !stored?.state);
  return { done: stops.length === 0, stops, ledgerIndex: run.state.recent?.to, used: used() };
}

/** Ends calls that hang: by assumption 2 (timing-assumptions.ts) what they put lands no later. */
const untilLate = <T>(call: Promise<T>): Promise<T> =>
  untilSettled(call, 'KV', MAX_WRITE_AGE_MS - PUT_WITHIN_MS);

/**
 * Returns whether the ledger is behind what KV has of it, as after D1 Time Travel. Until it has come
 * there again nothing is put: an older copy of `recent` may say that entries have later changes, up
 * to a `from` that is older than {@link SETTLING_TIME_MS}. So KV is read only where the last `recent`
 * that D1 knows of is as old.
 */
async function isSetBack({ state, head, clock, store, left }: PublishRun): Promise<boolean> {
  if (!hasPassed(SETTLING_TIME_MS, state.recent?.putAt ?? 0, clock())) return false;
  left.operations -= 1;
  const text = await store.get(RECENT_KEY, { type: 'text', cacheTtl: KV_CACHE_TTL_S });
  const recent = readRecent(text);
  if (recent.kind !== 'value' || recent.value.generation !== head.generation) return false;
  return recent.value.to > head.ledgerIndex;
}

/** Changes of NFTs whose entries wait: 300 MB. Beyond, it begins anew. */
const MAX_WAITING = 4_000_000;

async function takeSteps(run: PublishRun, isNew: boolean): Promise<Stop[]> {
  const now = run.clock();
  const { changes: counted = 0 } = run.head;
  // what waits is not pruned; where the publisher cannot keep up, to put each NFT once takes less
  const isLate = counted - (lastPut(run.state).changes ?? counted) > MAX_WAITING;
  // a fill that has begun goes on, else one of many NFTs would never end
  const { entries } = run.state;
  const isFilling = entries.kind === 'incomplete' && entries.upTo !== '';
  const known = isLate && !isFilling ? beginState(run.head) : run.state;
  // what another version put may be in another namespace
  const isOther = known.entries.kind === 'incomplete' && known.entries.version !== run.version;
  const own = isOther ? discardEntries(known, run.head.ledgerIndex, run.version) : known;
  const state = advanceState(clampTimes(own, now), run.head, now);
  if (isNew || state !== run.state) {
    const result = await swapState(run, state);
    if (result !== 'done') return [result];
  }
  const stops = new Set<Stop>();
  for (const take of [putRecent, putChanged, putAllEntries]) {
    const result = await take(run);
    if (result !== 'done') stops.add(result);
    if (result === 'another publisher' || result === 'ledger replaced') break;
  }
  return [...stops];
}
