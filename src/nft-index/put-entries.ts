/**
 * Putting entries into KV, a page of D1 at a time: those of new changes, those that are due to be
 * put again, and those of all NFTs.
 *
 * A page is read and its entries are put. Only when all of them are acknowledged is the state
 * advanced behind the page. If anything fails in between, the next call puts the page again, with
 * what D1 says then. Two publishers at once put the same pages; what either reads for a page
 * contains the changes that the page is put for.
 */
import { STATEMENTS } from './d1-ledger.ts';
import { entryKey, writeEntry } from './kv-entry.ts';
import type { IndexStore, NftRow, Page } from './ports.ts';
import { type Budget, type PublishRun, type StepResult, swapState } from './publish-run.ts';
import { dueReput, endOf, markReput, type Position, type State } from './publisher-state.ts';
import { PUT_WITHIN_MS } from './timing-assumptions.ts';

/** So few entries a page that they are put in time even where a put takes seconds. */
const PAGE_SIZE = 60;

/** A Worker may have six connections open at once. */
const CONCURRENT_PUTS = 6;

/**
 * Puts the entries of new changes. No answer depends on it while the changes stand in `recent`. It
 * helps where KV behaves worse than timing-assumptions.ts says.
 */
export function putChanged(run: PublishRun, kept: Budget): Promise<StepResult> {
  const { ledger } = run.head;
  return putChanges(run, kept, ledger, run.state.putUpTo, (state, putUpTo) => ({
    ...state,
    putUpTo: putUpTo ?? endOf(ledger),
  }));
}

/** Puts the entries of changes again that were first seen {@link REPUT_AFTER_MS} ago. */
export async function reputChanged(run: PublishRun): Promise<StepResult> {
  const upTo = dueReput(run.state, run.clock());
  if (upTo === undefined) return 'done';
  return putChanges(run, NOTHING, upTo, run.state.reputUpTo, (state, reputUpTo) =>
    reputUpTo ? { ...state, reputUpTo } : markReput(state, upTo, run.clock()),
  );
}

/** Puts the entries of all NFTs, and a seal after them. */
export async function putAllEntries(run: PublishRun): Promise<StepResult> {
  for (let { entries } = run.state; entries.kind === 'incomplete'; entries = run.state.entries) {
    const size = pageSize(run, NOTHING);
    if (size === 0) return 'budget spent';
    const { upTo } = entries;
    const page = await putPage(run, () => run.ledger.readNfts(upTo, size));
    if (typeof page === 'string') return page;
    const last = page.rows.length < size ? undefined : page.rows.at(-1);
    const result = last
      ? await swapState(run, { ...run.state, entries: { kind: 'incomplete', upTo: last.nft } })
      : await putSeal(run);
    if (result !== 'done') return result;
  }
  return 'done';
}

/** The seal's key is new, so no location remembers that it was absent. */
async function putSeal(run: PublishRun): Promise<StepResult> {
  const key = `seal:${crypto.randomUUID()}`;
  run.left.operations -= 1;
  await run.store.put(key, run.state.generation);
  return swapState(run, {
    ...run.state,
    entries: { kind: 'complete', since: run.clock(), seal: key },
  });
}

const NOTHING: Budget = { operations: 0, statements: 0 };

/**
 * Puts the entries of the changes after `position` and up to the milestone.
 *
 * @param kept what is to be left of the budget
 * @param advance takes the state to a position, or, given undefined, behind all these changes
 */
async function putChanges(
  run: PublishRun,
  kept: Budget,
  upTo: number,
  position: Position,
  advance: (state: State, to: Position | undefined) => State,
): Promise<StepResult> {
  let after: Position | undefined = position;
  while (after !== undefined && after.milestone <= upTo) {
    const size = pageSize(run, kept);
    if (size === 0) return 'budget spent';
    const from: Position = after;
    const page = await putPage(run, () => run.ledger.readChanges(from, upTo, size));
    if (typeof page === 'string') return page;
    const last = page.rows.length < size ? undefined : page.rows.at(-1);
    after = last && { milestone: last.milestone, nft: last.nft };
    const result = await swapState(run, advance(run.state, after));
    if (result !== 'done') return result;
  }
  return 'done';
}

/** The number of entries for which the budget suffices, with the statements of their page. */
function pageSize({ left }: PublishRun, kept: Budget): number {
  if (left.statements - kept.statements < STATEMENTS.page + STATEMENTS.swap) return 0;
  // one operation is left for the seal
  return Math.max(0, Math.min(PAGE_SIZE, left.operations - kept.operations - 1));
}

/** Reads a page of this run's ledger and puts its entries. */
async function putPage<Row extends NftRow>(
  run: PublishRun,
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
  const inTime = await putPairs(run.store, pairs, () => run.clock() - readAt <= PUT_WITHIN_MS);
  return inTime ? page : 'KV too slow';
}

type Pair = [key: string, value: string];

/**
 * Puts the pairs, unless `mayPut` says no before one of them. It waits for every put that it began,
 * also when one fails: none may land after the caller has gone on.
 *
 * @returns whether all were put
 */
async function putPairs(
  store: IndexStore,
  pairs: readonly Pair[],
  mayPut: () => boolean,
): Promise<boolean> {
  const waiting = pairs.values();
  let inTime = true;
  const workers = Array.from({ length: CONCURRENT_PUTS }, async () => {
    for (const [key, value] of waiting) {
      inTime &&= mayPut();
      if (!inTime) return;
      await store.put(key, value);
    }
  });
  for (const worker of await Promise.allSettled(workers))
    if (worker.status === 'rejected') throw worker.reason;
  return inTime;
}
