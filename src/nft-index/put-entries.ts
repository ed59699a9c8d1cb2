/**
 * Putting entries into KV, a page of D1 at a time (design §4): those of new changes, those of changes whose turn has come to be put again, and all of them.
 *
 * A page is read, its entries are put, and only when all of them are acknowledged the state moves behind it. Whatever breaks in between, the page is put again by
 * the next call, with what D1 says then. Two publishers at once put the same pages; what either reads for a page contains the changes that the page is put for.
 */
import { STATEMENTS } from './d1-ledger.ts';
import { entryKey, writeEntry } from './kv-entry.ts';
import type { IndexStore, NftRow, Page } from './ports.ts';
import { type Budget, type Run, type Step, swapState } from './publish-run.ts';
import { dueAgain, endOf, markAgain, type Position, type State } from './publisher-state.ts';
import { PUT_WITHIN } from './timing-assumptions.ts';

/** Entries put before the state is written: so few that they are put in time also where a put takes seconds. */
const PAGE_SIZE = 60;

/** The Workers runtime has so many requests under way at once. */
const LANES = 6;

/** Puts the entries of new changes. No answer depends on it while they stand in `recent`; it serves where KV behaves worse than times.ts assumes. */
export function putChanged(run: Run, kept: Budget): Promise<Step> {
  const { ledger } = run.head;
  return putChanges(run, kept, ledger, run.state.put, (state, put) => ({
    ...state,
    put: put ?? endOf(ledger),
  }));
}

/** Puts the entries of changes again that were first seen long enough ago. */
export async function putAgain(run: Run): Promise<Step> {
  const upTo = dueAgain(run.state, run.clock());
  if (upTo === undefined) return 'done';
  return putChanges(run, NOTHING, upTo, run.state.again, (state, again) =>
    again ? { ...state, again } : markAgain(state, upTo, run.clock()),
  );
}

/** Puts the entries of all NFTs, and a seal behind them. */
export async function putAll(run: Run): Promise<Step> {
  for (let { entries } = run.state; entries.kind === 'incomplete'; entries = run.state.entries) {
    const size = pageSize(run, NOTHING);
    if (size === 0) return 'budget spent';
    const { upTo } = entries;
    const page = await putPage(run, () => run.ledger.readNfts(upTo, size));
    if (typeof page === 'string') return page;
    const last = page.rows.length < size ? undefined : page.rows.at(-1);
    const step = last
      ? await swapState(run, { ...run.state, entries: { kind: 'incomplete', upTo: last.nft } })
      : await seal(run);
    if (step !== 'done') return step;
  }
  return 'done';
}

/** Nobody has read the seal's key before, so that no absence of it is remembered anywhere. */
async function seal(run: Run): Promise<Step> {
  const key = `seal:${crypto.randomUUID()}`;
  run.left.operations -= 1;
  await run.store.put(key, run.state.generation);
  return swapState(run, {
    ...run.state,
    entries: { kind: 'complete', since: run.clock(), seal: key },
  });
}

const NOTHING: Budget = { operations: 0, statements: 0 };

/** Puts the entries of the changes after `position` and up to the milestone; `move` takes the state to a position, or behind all of them. */
async function putChanges(
  run: Run,
  kept: Budget,
  upTo: number,
  position: Position,
  move: (state: State, to: Position | undefined) => State,
): Promise<Step> {
  let after: Position | undefined = position;
  while (after !== undefined && after.milestone <= upTo) {
    const size = pageSize(run, kept);
    if (size === 0) return 'budget spent';
    const from: Position = after;
    const page = await putPage(run, () => run.ledger.readChanges(from, upTo, size));
    if (typeof page === 'string') return page;
    const last = page.rows.length < size ? undefined : page.rows.at(-1);
    after = last && { milestone: last.milestone, nft: last.nft };
    const step = await swapState(run, move(run.state, after));
    if (step !== 'done') return step;
  }
  return 'done';
}

/** As many entries as the budget allows, less what is kept for later steps and for the statements that go with a page. */
function pageSize({ left }: Run, kept: Budget): number {
  if (left.statements - kept.statements < STATEMENTS.page + STATEMENTS.swap) return 0;
  // one operation stays for the seal
  return Math.max(0, Math.min(PAGE_SIZE, left.operations - kept.operations - 1));
}

/** Reads a page of this run's ledger and puts its entries. */
async function putPage<Row extends NftRow>(
  run: Run,
  read: () => Promise<Page<Row> | undefined>,
): Promise<Page<Row> | 'ledger replaced' | 'KV too slow'> {
  const readAt = run.clock();
  run.left.statements -= STATEMENTS.page;
  const page = await read();
  if (page?.generation !== run.state.generation) return 'ledger replaced';
  const { generation, ledgerIndex } = page;
  const pairs = page.rows.map(
    ({ nft, output }): Pair => [
      entryKey(nft),
      writeEntry({ generation, ledgerIndex, outputId: output }),
    ],
  );
  run.left.operations -= pairs.length;
  const inTime = await putPairs(run.store, pairs, () => run.clock() - readAt <= PUT_WITHIN);
  return inTime ? page : 'KV too slow';
}

type Pair = [key: string, value: string];

/** Returns whether all were put while they still might be. Waits for all that were begun, also when one fails: nothing is left to land behind the caller's back. */
async function putPairs(
  store: IndexStore,
  pairs: readonly Pair[],
  mayPut: () => boolean,
): Promise<boolean> {
  const waiting = pairs.values();
  let inTime = true;
  const lanes = Array.from({ length: LANES }, async () => {
    for (const [key, value] of waiting) {
      inTime &&= mayPut();
      if (!inTime) return;
      await store.put(key, value);
    }
  });
  for (const lane of await Promise.allSettled(lanes))
    if (lane.status === 'rejected') throw lane.reason;
  return inTime;
}
