/**
 * Turnover of the tables of the index of IDs (src/ledger/core/id-index.ts): when the next one
 * begins, and when the oldest one is dropped.
 */
import type { Database } from '../core/database.ts';
import type { IdTable, Integrity } from '../core/head.ts';
import { ID_TABLE_COUNT, idTableName } from '../core/id-index.ts';
import { one, readAlone } from '../core/read-batch.ts';

export interface Turnover {
  tables: IdTable[];
  /** Table to drop, if any, and the milestone up to which IDs go with it. */
  drop: IdTable | undefined;
  forgotten: number | undefined;
}

/**
 * Plans the turnover at this ledger index; undefined if nothing is due.
 *
 * @param span milestones that a table should hold
 * @param retention milestones before the ledger's whose IDs must be kept
 */
export function turnOver(
  tables: readonly IdTable[],
  ledger: number,
  span: number,
  retention: number,
): Turnover | undefined {
  const [oldest, second] = tables;
  if (oldest !== undefined && second !== undefined && second.first <= ledger - retention)
    return { tables: tables.slice(1), drop: oldest, forgotten: second.first - 1 };
  const current = tables.at(-1)!;
  if (ledger + 1 - current.first < span || tables.length === ID_TABLE_COUNT) return undefined;
  const next = { table: (current.table + 1) % ID_TABLE_COUNT, first: ledger + 1 };
  return { tables: [...tables, next], drop: undefined, forgotten: undefined };
}

/** The integrity after the turnover: a table that begins is empty, one that is dropped has none. */
export function turnIntegrity(
  { fingerprints, scrub, ...rest }: Integrity,
  before: readonly IdTable[],
  { tables, drop }: Turnover,
): Integrity {
  const begun = tables.filter((each) => !before.includes(each)).map(idTableName);
  const dropped = drop && idTableName(drop);
  const kept = Object.entries(fingerprints).filter(([table]) => table !== dropped);
  return {
    ...rest,
    fingerprints: Object.fromEntries([...kept, ...begun.map((table) => [table, 0] as const)]),
    // of a table that is gone the scrub begins again
    ...(scrub && scrub.table !== dropped && { scrub }),
  };
}

const SELECT_DEFINITION = 'SELECT sql FROM sqlite_master WHERE name = ?1';

/** Statements that empty a table without billed rows. */
export async function emptyTable(db: Database, name: string): Promise<D1PreparedStatement[]> {
  // made again as the migrations define it
  const definition = one(db.prepare(SELECT_DEFINITION).bind(name), (row) => row.text('sql'));
  const create = await readAlone(definition);
  return [db.prepare(`DROP TABLE ${name}`), db.prepare(create)];
}
