/**
 * Putting `recent` (design §4): the window as D1 has it now, in one value.
 */
import { STATEMENTS } from './d1-ledger.ts';
import type { Window } from './ports.ts';
import { type Budget, type Run, type Step, swapState } from './publish-run.ts';
import { beginAgain } from './publisher-state.ts';
import { NAME_LENGTH, RECENT_KEY, type Recent, writeRecent } from './recent-changes.ts';
import { BETWEEN_PUTS, CACHE_TTL, HEARTBEAT, SETTLED } from './timing-assumptions.ts';

/** What one `recent` takes, with a look at the seal and the state that follows from its absence. */
export const RECENT_COSTS: Budget = {
  operations: 2,
  statements: STATEMENTS.window + 2 * STATEMENTS.swap,
};

/** Puts `recent` if the ledger moved since the last one, or if that is long ago. */
export async function putRecent(run: Run): Promise<Step> {
  const due = whenDue(run);
  if (due !== 'now') return due;
  if (
    run.left.operations < RECENT_COSTS.operations ||
    run.left.statements < RECENT_COSTS.statements
  )
    return 'budget spent';

  const publishedAt = run.clock();
  if (await isSealLost(run, publishedAt)) {
    const step = await swapState(run, beginAgain(run.state));
    if (step !== 'done') return step;
  }
  run.left.statements -= STATEMENTS.window;
  const window = await run.ledger.readWindow(
    run.state.from,
    run.bounds.answers,
    run.bounds.others + 1,
  );
  if (window?.generation !== run.state.generation) return 'ledger replaced';
  if (window.token !== run.token) return 'another publisher';

  run.left.operations -= 1;
  await run.store.put(RECENT_KEY, writeRecent(describeWindow(run, window, publishedAt)));
  return swapState(run, { ...run.state, recent: { to: window.ledgerIndex, putAt: run.clock() } });
}

function whenDue({ state, head, clock }: Run): 'now' | 'done' | 'too soon' {
  if (state.recent === null) return 'now';
  // a clock that went back must not keep it from being put
  const since = Math.abs(clock() - state.recent.putAt);
  if (state.recent.to >= head.ledger && since < HEARTBEAT) return 'done';
  return since < BETWEEN_PUTS ? 'too soon' : 'now';
}

/**
 * Whether KV is no longer what the entries were put into. A namespace that was emptied or exchanged has no seal; its entries are put anew, and until then absence in
 * it means nothing. (Absences are answered from only once settled, and then the seal was put longer ago than any copy is old.)
 */
async function isSealLost({ state: { entries }, store, left }: Run, now: number): Promise<boolean> {
  if (entries.kind === 'incomplete' || now - entries.since < SETTLED) return false;
  left.operations -= 1;
  const copies = await store.get([entries.seal], { type: 'text', cacheTtl: CACHE_TTL });
  return (copies.get(entries.seal) ?? null) === null;
}

function describeWindow({ state, bounds }: Run, window: Window, publishedAt: number): Recent {
  const { generation, entries, from } = state;
  const value: Recent = {
    generation,
    from,
    to: window.ledgerIndex,
    fromTime: entries.kind === 'complete' ? entries.since : null,
    publishedAt,
    answers: Object.fromEntries(window.rows.map(({ nft, output }) => [nft, output])),
    others: '',
  };
  if (window.rows.length < bounds.answers) return value;
  if (window.names.length > bounds.others * NAME_LENGTH)
    return { ...value, from: value.to, fromTime: null };
  return { ...value, others: window.names };
}
