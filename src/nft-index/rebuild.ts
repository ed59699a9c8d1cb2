/**
 * Filling the index otherwise than by the publisher's own beginning (design §4): anew at will, or in bulk by an import.
 */
import { quote } from '../ledger/rows.ts';
import { openIndexLedger } from './d1-ledger.ts';
import type { IndexLedger } from './ports.ts';
import { beginAgain, beginState, type State, writeState } from './state.ts';

/** Other publishers may move in between; so often in a row they do not. */
const ATTEMPTS = 10;

/**
 * Has the publisher put all entries once more, from its next call on: after somebody changed or removed entries by hand, say. An emptied or exchanged namespace is noticed without. Until it is through, absent entries are asked about in D1. Before the first publishing after
 * an import there is nothing to do, as that fills the index anyway.
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

/** The state of an index whose entries were all there before its ledger was: nothing of that ledger can have changed before they were put. */
export function adoptedState(generation: string, start: number, seal: string, now: number): State {
  return { ...beginState(generation, start), entries: { kind: 'complete', since: now, seal } };
}

/**
 * SQL for an import that puts the entries of all NFTs itself (entry.ts): first those, as the import brings them, and behind them a key `seal` that was not used before, with
 * any value. When all are acknowledged, the new ledger is put in its place, and in the same transaction, after its head, this is said. The other way round, what such an import
 * puts would be older than what the publisher has put meanwhile. A publisher that has begun with this ledger is left alone.
 */
export function adoptionSql(generation: string, start: number, seal: string, now: number): string {
  const values = [crypto.randomUUID(), generation, writeState(adoptedState(generation, start, seal, now))];
  return `
    INSERT INTO nft_index (one, token, generation, state) VALUES (1, ${values.map(quote).join(', ')})
    ON CONFLICT (one) DO UPDATE SET token = excluded.token, generation = excluded.generation, state = excluded.state
    WHERE nft_index.generation <> excluded.generation`;
}
