/** Puts `recent`: the window of changes as D1 has it now, in one value. */
import { STATEMENTS } from './d1-ledger.ts';
import type { Window } from './ports.ts';
import { type PublishRun, type StepResult, seesSeal, swapState } from './publish-run.ts';
import { discardEntries } from './publisher-state.ts';
import { RECENT_KEY, type Recent, writeRecent } from './recent-changes.ts';
import { HEARTBEAT_MS, RECENT_PUT_INTERVAL_MS, SETTLING_TIME_MS } from './timing-assumptions.ts';

/** Puts `recent` if the ledger advanced since the last one, or if that is long ago. */
export async function putRecent(run: PublishRun): Promise<StepResult> {
  const due = whenDue(run);
  if (due !== 'now') return due;
  const publishedAt = run.clock();
  if (await isSealLost(run, publishedAt)) {
    const discarded = discardEntries(run.state, run.head.ledgerIndex, run.version);
    const result = await swapState(run, discarded);
    if (result !== 'done') return result;
  }
  run.left.statements -= STATEMENTS.window;
  const { ledgerIndex: from, changes = 0 } = run.head;
  // where an earlier version wrote the state: all since the import, as there may be as many
  const isLarge = changes - (run.state.changes ?? 0) > run.bounds.changes;
  const since = { ...run.state, ...(isLarge && { from, changes }), token: run.token };
  const window = await run.ledger.readWindow(since, run.bounds.states);
  if (window?.generation !== run.state.generation) return 'ledger replaced';
  if (window.token !== run.token) return 'another publisher';

  run.left.operations -= 1;
  const value = writeRecent(describeWindow(run, since.from, window, publishedAt));
  await run.store.put(RECENT_KEY, value);
  return swapState(run, { ...run.state, recent: { to: window.ledgerIndex, putAt: run.clock() } });
}

function whenDue({ state, head, clock }: PublishRun): 'now' | 'done' | 'too soon' {
  if (state.recent === null) return 'now';
  // absolute, so that a clock that went back does not delay it
  const since = Math.abs(clock() - state.recent.putAt);
  if (state.recent.to >= head.ledgerIndex && since < HEARTBEAT_MS) return 'done';
  return since < RECENT_PUT_INTERVAL_MS ? 'too soon' : 'now';
}

/**
 * Returns whether KV is another namespace than the entries were put into, or was emptied: it has no
 * seal. Then its entries are written again. By the time at which an absence counts, the seal is
 * older than any copy in KV, so it can only be absent if it is lost.
 */
async function isSealLost(run: PublishRun, now: number): Promise<boolean> {
  const { entries } = run.state;
  if (entries.kind === 'incomplete' || now - entries.since < SETTLING_TIME_MS) return false;
  return !(await seesSeal(run, entries.seal));
}

function describeWindow(
  { state, bounds }: PublishRun,
  from: number,
  window: Window,
  publishedAt: number,
): Recent {
  const { generation, entries, filledFrom } = state;
  const isSince = entries.kind === 'complete' && from === state.from;
  const value: Recent = {
    generation,
    from,
    filledFrom,
    to: window.ledgerIndex,
    fromTime: isSince ? entries.since : null,
    publishedAt,
    states: Object.fromEntries(window.rows.map(({ nft, output }) => [nft, output])),
    prefixes: '',
  };
  if (window.rows.length < bounds.states) return value;
  return { ...value, prefixes: window.prefixes };
}
