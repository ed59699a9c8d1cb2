/**
 * Writes to the index of IDs (src/ledger/core/id-index.ts): entries, made within D1 of packs and
 * parts, and the turnover of its tables.
 */
import { type Database, forEachPiece } from '../core/database.ts';
import type { IdTable } from '../core/head.ts';
import { entrySum, ID_TABLE_COUNT, idTableName, milestoneEntry } from '../core/id-index.ts';
import { one, readAlone, readQuery } from '../core/read-batch.ts';
import { type FingerprintMover, type Integrity, numberSumSql, startOf } from '../core/row-sum.ts';
import { blockSql, readBlockRows } from '../packs/id-rows.ts';
import { spentIn, spentSql } from '../packs/milestone-part.ts';
import { atPlaces, type BlockPlace, selectAt } from '../packs/places.ts';

/** SQL of the blocks `b` at the places ?1. */
const NAMED_BLOCKS = `(${atPlaces('blocks')}) b`;

/** SQL of the entries of the blocks at the places ?1 in that table, ?2 the milestone. */
const insertBlocks = (table: string, number: string) => `
  INSERT INTO ${table} (id, milestone, block, sum)
  SELECT ${blockSql.id('b.value')}, ?2, ${number}, ?2 + ${numberSumSql(number)} FROM ${NAMED_BLOCKS}`;

/** Blocks that one statement reads. */
const BLOCKS_AT_ONCE = 10_000;

/**
 * Moves the fingerprint by the entries of blocks that {@link insertIds} or {@link
 * insertEntryPoints} inserts, 10,000 at a time: there may be 165,000. Throws a LedgerDamaged
 * if one is not what was written: its entry would have a right sum.
 *
 * @param table name of the one that takes the IDs
 * @param milestone index in the entries
 * @param blocks their places
 */
export async function moveByBlocks(
  db: Database,
  fingerprints: FingerprintMover,
  table: string,
  kind: 'referenced' | 'entryPoint',
  milestone: number,
  blocks: Iterable<BlockPlace>,
): Promise<void> {
  const read = (some: readonly BlockPlace[]) =>
    readQuery(
      db,
      selectAt(db, 'blocks', some, (row) => {
        for (const [number, id] of readBlockRows(`[${row.text('value')}]`))
          fingerprints.move(table, id, entrySum(id, milestone, kind === 'referenced' ? number : 0));
      }),
    );
  let some: BlockPlace[] = [];
  for (const block of blocks) {
    some.push(block);
    if (some.length < BLOCKS_AT_ONCE) continue;
    await read(some);
    some = [];
  }
  if (some.length > 0) await read(some);
}

/**
 * Makes statements that note what a milestone references and spends, and its own ID. Its parts,
 * which have the IDs of outputs, must have been inserted.
 *
 * @param table name of the one that takes the IDs
 * @param id ID of the milestone, hex
 * @param blocks the pack that holds each of its blocks, and the position there
 */
export function insertIds(
  db: Database,
  table: string,
  { index, id: milestoneId }: { index: number; id: string },
  blocks: Iterable<BlockPlace>,
): D1PreparedStatement[] {
  const insert = `INSERT INTO ${table} (id, milestone, block, sum)`;
  const outputs = `${insert} SELECT ${spentSql.id('s.value')}, ?1, 0, ?1 FROM ${spentIn('?1')}`;
  return [
    db.prepare(`${insert} VALUES (?1, ?2, 0, ?2)`).bind(milestoneEntry(milestoneId), index),
    ...forEachPiece(db, insertBlocks(table, blockSql.number('b.value')), blocks, index),
    db.prepare(outputs).bind(index),
  ];
}

/**
 * Makes statements that note blocks as entry points: referenced by some milestone up to this one.
 *
 * @param table name of the one that takes the IDs
 * @param milestone index
 * @param blocks their places
 */
export function insertEntryPoints(
  db: Database,
  table: string,
  milestone: number,
  blocks: Iterable<BlockPlace>,
): D1PreparedStatement[] {
  return forEachPiece(db, insertBlocks(table, '0'), blocks, milestone);
}

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
    // after a table that is gone comes the next one
    ...(scrub && { scrub: scrub.table === dropped ? startOf(idTableName(tables[0]!)) : scrub }),
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
