/**
 * The index of IDs: which milestone references a block, which spent an output, and which has an ID
 * of its own.
 *
 * IDs stay four times as long as all else (prune.ts), so they are most of the rows that the ledger
 * has. Milestones fill one of five tables, and then the next; a table whose milestones are all old
 * enough is dropped, which D1 does not bill. So a milestone's IDs are forgotten all at once:
 * whoever finds one ID of a milestone finds all of them (docs/storage.md#the-index-of-ids).
 */
import { type Database, forEachPiece, isPartOf } from './database.ts';
import type { IdTable } from './head.ts';
import { many, one, readAlone } from './read-batch.ts';
import { type FingerprintMover, type Integrity, numberSumSql, rowSum } from './row-sum.ts';

/** Tables `id_0` to `id_4` (migrations/0001_ledger.sql). */
export const ID_TABLE_COUNT = 5;

const ID_TABLES = Array.from({ length: ID_TABLE_COUNT }, (_, table) => nameOf(table));

/** The index's entry for a milestone's own ID: a block's ID has no letter before it. */
export function milestoneEntry(id: string): string {
  return `m${id}`;
}

export function idTableName({ table }: Pick<IdTable, 'table'>): string {
  return nameOf(table);
}

function nameOf(table: number): string {
  return `id_${table}`;
}

/** What an entry adds to the fingerprint of its table. `block`: 0 for all but blocks. */
export function entrySum(id: string, milestone: number, block = 0): number {
  return rowSum([id, milestone, block]);
}

/**
 * A SELECT of `id`, `milestone`, `block` and `sum` of those IDs that are in the index.
 *
 * @param list SQL of a JSON array of IDs
 */
export function selectIds(list: string): string {
  return ID_TABLES.map(
    (table) =>
      `SELECT i.id, i.milestone, i.block, i.sum
      FROM json_each(${list}) j CROSS JOIN ${table} i ON i.id = j.value`,
  ).join(' UNION ALL ');
}

/** SQL of the blocks of packs that ?1 names by pack and position. */
const NAMED_BLOCKS = `
  pack p CROSS JOIN json_each(p.blocks) b
  WHERE p.key IN (SELECT pack FROM named) AND (p.key, b.key) IN (SELECT pack, at FROM named)`;

const NAMED = `
  named AS MATERIALIZED (SELECT value ->> 0 AS pack, value ->> 1 AS at FROM json_each(?1))`;

/** SQL of {@link entrySum} of a block of a pack (packs.ts), ?2 the milestone. */
const ENTRY_SUM = {
  referenced: '(b.value ->> 3) - (b.value ->> 2) + ?2',
  entryPoint: `(b.value ->> 3) - (b.value ->> 2) - ${numberSumSql('b.value ->> 0')} + ?2`,
};

/** Blocks whose sums one statement reads. */
const BLOCKS_AT_ONCE = 10_000;

/**
 * Moves the fingerprint by the entries of blocks that {@link insertIds} or {@link insertEntryPoints}
 * inserts, a few thousand at a time: there may be 300,000.
 *
 * @param tables those of head: the last one takes the IDs
 * @param milestone index in the entries
 * @param blocks the pack that holds each block, and the position there
 */
export async function moveByBlocks(
  db: Database,
  fingerprints: FingerprintMover,
  tables: readonly IdTable[],
  kind: keyof typeof ENTRY_SUM,
  milestone: number,
  blocks: Iterable<readonly [pack: number, at: number]>,
): Promise<void> {
  const table = idTableName(tables.at(-1)!);
  const sql = `
    WITH ${NAMED} SELECT b.value ->> 1 AS id, ${ENTRY_SUM[kind]} AS sum FROM ${NAMED_BLOCKS}`;
  const statement = db.prepare(sql);
  const read = (some: readonly (readonly [number, number])[]) =>
    readAlone(
      many(statement.bind(JSON.stringify(some), milestone), (row) =>
        fingerprints.move(table, row.text('id'), row.integer('sum')),
      ),
    );
  let some: (readonly [number, number])[] = [];
  for (const block of blocks) {
    some.push(block);
    if (some.length < BLOCKS_AT_ONCE) continue;
    await read(some);
    some = [];
  }
  if (some.length > 0) await read(some);
}

/**
 * Statements that note what a milestone references and spends, and its own ID. The IDs of outputs
 * come from its parts, which must have been inserted before.
 *
 * @param tables those of head: the last one takes the IDs
 * @param id of the milestone, hex
 * @param blocks the pack that holds each of its blocks, and the position there
 */
export function insertIds(
  db: Database,
  tables: readonly IdTable[],
  { index, id: milestoneId }: { index: number; id: string },
  blocks: Iterable<readonly [pack: number, at: number]>,
): D1PreparedStatement[] {
  const insert = `INSERT INTO ${nameOf(tables.at(-1)!.table)} (id, milestone, block, sum)`;
  const blocksOfPacks = `
    ${insert}
    WITH ${NAMED}
    SELECT b.value ->> 1, ?2, b.value ->> 0, ?2 + ${numberSumSql('b.value ->> 0')}
    FROM ${NAMED_BLOCKS}`;
  const outputs = `
    ${insert}
    SELECT s.value ->> 0, ?1, 0, ?1 FROM milestone_part p CROSS JOIN json_each(p.spent) s
    WHERE ${isPartOf('p.key', '?1')}`;
  return [
    db.prepare(`${insert} VALUES (?1, ?2, 0, ?2)`).bind(milestoneEntry(milestoneId), index),
    ...forEachPiece(db, blocksOfPacks, blocks, index),
    db.prepare(outputs).bind(index),
  ];
}

/**
 * Statements that note blocks as entry points: referenced by some milestone up to this one.
 *
 * @param tables those of head: the last one takes the IDs
 * @param milestone index
 * @param blocks the pack that holds each block, and the position there
 */
export function insertEntryPoints(
  db: Database,
  tables: readonly IdTable[],
  milestone: number,
  blocks: Iterable<readonly [pack: number, at: number]>,
): D1PreparedStatement[] {
  const insert = `
    INSERT INTO ${nameOf(tables.at(-1)!.table)} (id, milestone, block, sum)
    WITH ${NAMED} SELECT b.value ->> 1, ?2, 0, ?2 FROM ${NAMED_BLOCKS}`;
  return forEachPiece(db, insert, blocks, milestone);
}

export interface Turnover {
  tables: IdTable[];
  /** The table to drop, if any, and up to which milestone IDs are forgotten with it. */
  drop: IdTable | undefined;
  forgotten: number | undefined;
}

/**
 * What is to be done with the tables at this ledger index; undefined where nothing is.
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
  if (oldest !== undefined && second !== undefined && second.first <= ledger - retention) {
    return { tables: tables.slice(1), drop: oldest, forgotten: second.first - 1 };
  }
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

/** Statements that empty a table. */
export async function dropIdTable(
  db: Database,
  { table }: IdTable,
): Promise<D1PreparedStatement[]> {
  const name = nameOf(table);
  // made again as the migrations define it
  const definition = one(db.prepare(SELECT_DEFINITION).bind(name), (row) => row.text('sql'));
  const create = await readAlone(definition);
  return [db.prepare(`DROP TABLE ${name}`), db.prepare(create)];
}
