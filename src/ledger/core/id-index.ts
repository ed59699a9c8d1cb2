/**
 * The index of IDs: which milestone references a block, spent an output, or has an ID of its own.
 * IDs stay four times as long as all else (prune.ts), so they are most rows of the ledger.
 * Milestones fill one of five tables, then the next; a table whose milestones are all old enough is
 * dropped, which D1 does not bill. So a milestone's IDs are dropped all at once
 * (docs/storage.md#the-index-of-ids).
 */
import { type Database, forEachPiece } from './database.ts';
import type { IdTable } from './head.ts';
import { many, type Query, type Row } from './read-batch.ts';
import { rowSum } from './row-sum.ts';

/** Tables `id_0` to `id_4` (migrations/0001_ledger.sql). */
export const ID_TABLE_COUNT = 5;

const ID_TABLES = Array.from({ length: ID_TABLE_COUNT }, (_, table) => idTableName({ table }));

/** The index's entry for a milestone's own ID: a block's ID has no letter before it. */
export const milestoneEntry = (id: string): string => `m${id}`;

export function idTableName({ table }: Pick<IdTable, 'table'>): string {
  return `id_${table}`;
}

/**
 * The sum that an entry adds to the fingerprint of its table: its own does not have the ID. `block`:
 * 0 except for blocks.
 */
export const entrySum = (id: string, milestone: number, block = 0): number =>
  rowSum([id, milestone, block]);

/**
 * SELECT of `id`, `milestone`, `block` and `sum` of those IDs that are in the index.
 *
 * @param list SQL of a JSON array of IDs
 */
export function selectIds(list: string): string {
  const columns = ['id', 'milestone', 'block', 'sum'].map(
    (column) => `coalesce(${ID_TABLES.map((table) => `${table}.${column}`)}) AS ${column}`,
  );
  const joins = ID_TABLES.map((table) => `LEFT JOIN ${table} ON ${table}.id = j.value`);
  return `SELECT * FROM (
    SELECT ${columns} FROM json_each(${list}) j ${joins.join(' ')}) WHERE id IS NOT NULL`;
}

/** A block that the ledger knows. */
export interface KnownBlock {
  /** 0 of a solid entry point: no block has that number. */
  number: number;
  /** The milestone that references it, or null. */
  milestone: number | null;
}

const FIND_BLOCKS = selectIds('?1');

/** Finds those of the blocks with these hex IDs that milestones reference. */
export function findReferenced(
  db: Database,
  ids: readonly string[],
): Query<[id: string, block: KnownBlock][]> {
  return many(forEachPiece(db, FIND_BLOCKS, ids), knownBlockFromRow);
}

/** @param row of {@link selectIds} */
export function knownBlockFromRow(row: Row): [id: string, block: KnownBlock] {
  row.requireSum('id');
  return [row.text('id'), { number: row.integer('block'), milestone: row.integer('milestone') }];
}
