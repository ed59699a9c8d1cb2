/**
 * Filling the index: by the publisher itself, page by page, or by an import that puts the entries in bulk (design §4).
 */
import { openIndexLedger } from './d1-ledger.ts';
import type { IndexLedger } from './ports.ts';
import { beginAgain, beginState, endOf, writeState } from './state.ts';

/** Other publishers may move in between; so often in a row they do not. */
const ATTEMPTS = 10;

/**
 * Has the publisher put all entries once more, from its next call on: after somebody changed entries by hand, say. Until it is through, absent entries are asked
 * about in D1. Nothing to do before the first publishing after an import, which fills the index anyway.
 */
export function rebuild(ledger: D1Database): Promise<void> {
  return rebuildIn(openIndexLedger(ledger));
}

export async function rebuildIn(ledger: IndexLedger): Promise<void> {
  for (let i = 0; i < ATTEMPTS; i++) {
    const { stored } = await ledger.look();
    if (stored?.state === undefined) return;
    if (await ledger.swap(stored.token, { token: crypto.randomUUID(), state: beginAgain(stored.state) })) return;
  }
  throw new Error('other publishers moved the index on at every attempt to have it rebuilt');
}

/**
 * SQL for an import that has put the entries of all NFTs as the import brought them (entry.ts), and behind them the key `seal` with any value: then the publisher need
 * not. Run it after all puts were acknowledged. It changes nothing where the ledger was replaced again, or where the publisher has gone on by itself.
 */
export function adoptionSql(generation: string, start: number, seal: string, now: number): string {
  const state = writeState({ ...beginState(generation, start), entries: { kind: 'complete', since: now, seal } });
  return `
    UPDATE nft_index SET token = ${quote(crypto.randomUUID())}, generation = ${quote(generation)}, state = ${quote(state)}
    WHERE EXISTS (SELECT 1 FROM head WHERE generation = ${quote(generation)}) AND (
      generation <> ${quote(generation)}
      OR (state -> 'entries' ->> 'kind' = 'incomplete' AND state ->> 'from' = ${start} AND state -> 'again' ->> 'milestone' = ${endOf(start).milestone})
    )`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
