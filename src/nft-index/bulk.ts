/**
 * Filling the index in bulk (design §4): an import to the deployed databases puts the entries of all NFTs itself, faster than a publisher could.
 *
 * What a bulk writer puts is older than any publisher's, by hours at the end. So from before its first put until after its last one, changes must not leave the
 * window and the publisher must not fill the index by itself. The order: the new ledger with its head; {@link beginBulkSql}; a look whether that took effect, and if it did not,
 * no bulk; all entries (entry.ts), with the ledger index of the import; the seal, a key of a name not used before; {@link endBulkSql}. A bulk writer that takes longer than
 * {@link BULK_WITHIN} must stop; whether it stopped or broke, the publisher does its work then.
 */
import { beginState, type State, writeState } from './state.ts';
import { CLOCKS, WRITE_AGE } from './times.ts';

/** From the beginning to the last put, in milliseconds. */
export const BULK_WITHIN = 12 * 60 * 60 * 1_000;

/** The publisher's state while a bulk writer is at work that began at `begun`. */
export function beginBulk(generation: string, start: number, begun: number): State {
  return { ...beginState(generation, start), entries: { kind: 'incomplete', upTo: '', notBefore: endOfBulk(begun) } };
}

/** What there is to say of the entries when it is through. */
export function endBulk(seal: string, now: number): State['entries'] {
  return { kind: 'complete', since: now, seal };
}

/** Changes one row, or none where the ledger has been replaced or its publisher has got to work. */
export function beginBulkSql(generation: string, start: number, begun: number): string {
  return `
    UPDATE nft_index SET
      token = ${quote(crypto.randomUUID())}, generation = ${quote(generation)}, state = ${quote(writeState(beginBulk(generation, start, begun)))}
    WHERE generation <> ${quote(generation)} AND EXISTS (SELECT 1 FROM head WHERE generation = ${quote(generation)});`;
}

/** Changes one row, or none where the publisher does the work. */
export function endBulkSql(generation: string, begun: number, seal: string, now: number): string {
  return `
    UPDATE nft_index SET
      token = ${quote(crypto.randomUUID())}, state = json_set(state, '$.entries', json(${quote(JSON.stringify(endBulk(seal, now)))}))
    WHERE generation = ${quote(generation)} AND state -> 'entries' ->> 'notBefore' = ${endOfBulk(begun)} AND ${now} < ${endOfBulk(begun)};`;
}

/** By then the last put has landed. */
function endOfBulk(begun: number): number {
  return begun + BULK_WITHIN + WRITE_AGE + CLOCKS;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
