/**
 * Filling the index otherwise than after an import, by the publisher (design §4): anew at will, or in bulk by the import itself.
 */
import { quote } from '../ledger/database.ts';
import { beginState, type State, writeState } from './publisher-state.ts';

/**
 * Has the publisher put all entries once more, from its next call on: after somebody changed or removed entries by hand, say. (It notices by itself when the
 * namespace was emptied or exchanged.) Until it is through, absent entries are asked about in D1.
 */
export async function rebuild(ledger: D1Database): Promise<void> {
  await ledger.prepare('DELETE FROM nft_index').run();
}

/** The state of an index whose entries were all there before its ledger was: nothing of that ledger can have changed before they were put. */
export function adoptedState(generation: string, start: number, seal: string, now: number): State {
  return { ...beginState(generation, start), entries: { kind: 'complete', since: now, seal } };
}

/**
 * SQL for an import that puts the entries of all NFTs itself, as it brings them (entry.ts), and behind them a key `seal` that was not used before, with any
 * value. When all are acknowledged, the new ledger takes its place, and in the same transaction, after its head, this says so. The other way round, what such an
 * import puts would be older than what the publisher has put meanwhile. A publisher that has begun with this ledger is left alone.
 */
export function adoptionSql(generation: string, start: number, seal: string, now: number): string {
  const values = [
    crypto.randomUUID(),
    generation,
    writeState(adoptedState(generation, start, seal, now)),
  ];
  return `
    INSERT INTO nft_index (one, token, generation, state) VALUES (1, ${values.map(quote).join(', ')})
    ON CONFLICT (one) DO UPDATE SET token = excluded.token, generation = excluded.generation, state = excluded.state
    WHERE nft_index.generation <> excluded.generation`;
}
