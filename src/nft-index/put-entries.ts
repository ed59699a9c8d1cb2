/**
 * Puts entries into KV, a page of D1 at a time: those of due changes, and those of all NFTs. The
 * state advances behind a page only when all its puts are acknowledged; after a failure the next
 * call puts the page again, as D1 is then. Two publishers put the same pages; what either reads for
 * a page contains the changes that the page is put for.
 */
import { startWorkers } from '../platform/concurrency.ts';
import { STATEMENTS } from './d1-ledger.ts';
import { entryKey, writeEntry } from './kv-values.ts';
import type { NftRow, Page } from './ports.ts';
import { type PublishRun, type StepResult, seesSeal, swapState } from './publish-run.ts';
import { type ChangePosition, duePut, markPut, stretchesTo } from './publisher-state.ts';
import { PUT_WITHIN_MS, TOMBSTONE_TTL_S } from './timing-assumptions.ts';

/** So few entries a page that they are put in time even where a put takes seconds. */
const PAGE_SIZE = 30;

/** Where these and strangers' questions hang, D1 and who is known have one of six connections. */
const PUTS_AT_ONCE = 2;

/** Operations to read the seal, and to put an entry and leave one over. */
const MIN_OPERATIONS = 3;

/**
 * Puts the entries of changes that were first seen {@link PUT_AFTER_MS} ago; until long after, the
 * changes are in `recent`. None is put unless the seal is seen: another namespace may be bound, and
 * the one with the other entries would lack these later.
 */
export async function putChanged(run: PublishRun): Promise<StepResult> {
  const upTo = duePut(run.state, run.clock());
  if (upTo === undefined) return 'done';
  const { entries, generation } = run.state;
  if (entries.kind === 'complete') {
    if (run.left.operations < MIN_OPERATIONS) return 'budget spent';
    if (!(await seesSeal(run, entries.seal))) return 'seal not seen';
  }
  let after: ChangePosition | undefined = run.state.putUpTo;
  while (after !== undefined && after.milestone <= upTo) {
    const size = pageSize(run);
    if (size === 0) return 'budget spent';
    const from: ChangePosition = after;
    const page = await putPage(run, () => run.ledger.readChanges(from, upTo, size));
    if (typeof page === 'string') return page;
    const last = page.rows.length < size ? undefined : page.rows.at(-1);
    after = last && { milestone: last.milestone, nft: last.nft };
    if (after === undefined) {
      // what damage hides would never be put
      run.left.statements -= STATEMENTS.count;
      const stretches = stretchesTo(run.state, upTo);
      await run.ledger.requireChanges(stretches, { generation, token: run.token });
    }
    const state = after ? { ...run.state, putUpTo: after } : markPut(run.state, upTo, run.clock());
    const result = await swapState(run, state);
    if (result !== 'done') return result;
  }
  return 'done';
}

export async function putAllEntries(run: PublishRun): Promise<StepResult> {
  for (let { entries } = run.state; entries.kind === 'incomplete'; entries = run.state.entries) {
    const size = pageSize(run);
    if (size === 0) return 'budget spent';
    const { upTo } = entries;
    const page = await putPage(run, () => run.ledger.readNfts(upTo, size));
    if (typeof page === 'string') return page;
    const last = page.rows.length < size ? undefined : page.rows.at(-1);
    const result = last
      ? await swapState(run, { ...run.state, entries: { ...entries, upTo: last.nft } })
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

/** Returns the number of entries that the budget allows, with the statements of their page. */
function pageSize({ left }: PublishRun): number {
  if (left.statements < STATEMENTS.page + STATEMENTS.count + STATEMENTS.swap) return 0;
  // one operation is left for the seal
  return Math.max(0, Math.min(PAGE_SIZE, left.operations - 1));
}

/**
 * Reads a page of this run's ledger and puts its entries while there is time. Waits for all begun
 * puts even if one fails: none may land after the caller has gone on.
 */
async function putPage<Row extends NftRow>(
  run: PublishRun,
  read: () => Promise<Page<Row> | undefined>,
): Promise<Page<Row> | 'ledger replaced' | 'KV too slow'> {
  const readAt = run.clock();
  run.left.statements -= STATEMENTS.page;
  const page = await read();
  if (page?.generation !== run.state.generation || page.ledgerIndex < run.head.ledgerIndex)
    return 'ledger replaced';
  const { generation, ledgerIndex, rows } = page;
  let inTime = true;
  const put = async ({ nft, output }: Row) => {
    inTime &&= run.clock() - readAt <= PUT_WITHIN_MS;
    if (!inTime) return;
    const entry = writeEntry({ nft, generation, ledgerIndex, outputId: output });
    const options = output === null ? { expirationTtl: TOMBSTONE_TTL_S } : undefined;
    run.left.operations -= 1;
    await run.store.put(entryKey(nft), entry, options);
    await run.endStep();
  };
  const workers = startWorkers(rows.values(), put, PUTS_AT_ONCE);
  for (const worker of await Promise.allSettled(workers))
    if (worker.status === 'rejected') throw worker.reason;
  return inTime ? page : 'KV too slow';
}
