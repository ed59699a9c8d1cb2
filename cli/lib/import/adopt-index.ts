/** State of an index that an import has filled itself, in bulk, instead of the publisher. */
import { quote } from '../../../src/ledger/core/database.ts';
import { rowSum } from '../../../src/ledger/core/row-sum.ts';
import { beginState, type State, serializeState } from '../../../src/nft-index/publisher-state.ts';

/**
 * Creates the state of an index whose entries were all put before its ledger was served.
 *
 * @param start the ledger index that was imported
 * @param now Unix milliseconds
 */
export function adoptedState(generation: string, start: number, seal: string, now: number): State {
  const state = beginState({ generation, ledgerIndex: start, changes: 0 });
  return { ...state, entries: { kind: 'complete', since: now, seal } };
}

/**
 * Returns SQL for an import that puts the entries of all NFTs itself, and then the key `seal`,
 * never used before, with any value. It runs in the transaction that replaces the ledger, after the
 * new head and after all puts are acknowledged: else the import would put entries older than the
 * publisher's. A publisher that has begun with this ledger keeps its own state.
 */
export function adoptionSql(generation: string, start: number, seal: string, now: number): string {
  const state = serializeState(adoptedState(generation, start, seal, now));
  const cells = [crypto.randomUUID(), generation, state];
  return `
    INSERT INTO nft_index (one, token, generation, state, sum)
    VALUES (1, ${cells.map(quote).join(', ')}, ${rowSum(cells)})
    ON CONFLICT (one) DO UPDATE SET token = excluded.token, generation = excluded.generation,
      state = excluded.state, sum = excluded.sum
    WHERE nft_index.generation <> excluded.generation`;
}
