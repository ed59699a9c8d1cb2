/**
 * Filling the index anew at will (design §4): after somebody changed or removed entries by hand, say. An emptied or exchanged namespace is noticed without.
 */
import { openIndexLedger } from './d1-ledger.ts';
import type { IndexLedger } from './ports.ts';
import { beginAgain } from './state.ts';

/** Other publishers may move in between; so often in a row they do not. */
const ATTEMPTS = 10;

/**
 * Has the publisher put all entries once more, from its next call on. Until it is through, absent entries are asked about in D1. Before the first publishing after
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
