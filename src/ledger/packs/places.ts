/**
 * Blocks by their places: the key of a pack, and the slot of the block in it, from 0 on. Statements
 * take places as JSON, and read what one column has of those blocks alone.
 */
import { type Database, forEachPiece } from '../core/database.ts';
import { many, one, type Query, type Row } from '../core/read-batch.ts';
import { readBlockRows } from './id-rows.ts';

export type BlockPlace = readonly [pack: number, at: number];

/** Table and name of each column that is a JSON array with an element for each block of the pack. */
const COLUMNS = {
  blocks: ['pack', 'blocks'],
  mentions: ['pack', 'outputs'],
  bytes: ['pack_content', 'bytes'],
  contents: ['pack_content', 'outputs'],
  details: ['pack_content', 'details'],
} as const;

type BlockColumn = keyof typeof COLUMNS;

/** SQL of the places ?1. */
const PLACES = 'SELECT value ->> 0 AS pack, value ->> 1 AS at FROM json_each(?1)';

/**
 * SQL of a table with a row for each of the blocks: `pack`, `at`, and `value`, what the column has of
 * the block. Joining by block and not by output takes half the time.
 *
 * @param places a SELECT of pack and at
 */
export function atPlaces(column: BlockColumn, places = PLACES): string {
  const [table, name] = COLUMNS[column];
  return `
    SELECT p.key AS pack, b.key AS at, b.value
    FROM (SELECT DISTINCT pack FROM (${places})) k CROSS JOIN ${table} p ON p.key = k.pack
      CROSS JOIN json_each(p.${name}) b
    WHERE (p.key, b.key) IN (${places})`;
}

/** Rows of `pack`, `at` and `value` for the blocks at these places, in any order. */
export function selectAt<T>(
  db: Database,
  column: BlockColumn,
  places: Iterable<BlockPlace>,
  parse: (row: Row) => T,
): Query<T[]> {
  return many(forEachPiece(db, atPlaces(column), places), parse);
}

/**
 * SQL of one element of a column.
 *
 * @param path SQL of the slot, and of a position in the list that the column has of the block
 */
export function elementSql(column: BlockColumn, pack: string, ...path: string[]): string {
  const [table, name] = COLUMNS[column];
  const steps = path.map((step) => `'[' || ${step} || ']'`).join(' || ');
  return `(SELECT c.${name} ->> ('$' || ${steps}) FROM ${table} c WHERE c.key = ${pack})`;
}

const SELECT_ALL_BYTES = `
  SELECT p.key, p.blocks, c.bytes FROM pack p JOIN pack_content c ON c.key = p.key
  WHERE p.key IN (SELECT value FROM json_each(?1))`;

/**
 * Selects, by the pack's key, base64 of the bytes of its blocks by their IDs: whoever has read a
 * block's place before may find another there, once others were dropped from the pack.
 */
export function selectAllBytes(
  db: Database,
  keys: Iterable<number>,
): Query<[pack: number, bytes: ReadonlyMap<string, string>][]> {
  return many(db.prepare(SELECT_ALL_BYTES).bind(JSON.stringify([...keys])), (row) => {
    const texts: string[] = JSON.parse(row.text('bytes'));
    const ids = readBlockRows(row.text('blocks'));
    return [row.integer('key'), new Map(ids.map(([, id], at) => [id, texts[at]!]))];
  });
}

const SELECT_LENGTH = `
  SELECT coalesce(sum(octet_length(bytes)), 0) AS length FROM pack_content
  WHERE key IN (SELECT value FROM json_each(?1))`;

/** Characters that have to be read for bytes of blocks in these packs. */
export function selectLength(db: Database, keys: Iterable<number>): Query<number> {
  return one(db.prepare(SELECT_LENGTH).bind(JSON.stringify([...keys])), (row) =>
    row.integer('length'),
  );
}
