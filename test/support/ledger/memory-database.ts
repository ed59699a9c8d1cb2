/**
 * Databases in memory with the tables of the migrations, and all that one holds, to compare.
 */
import { migrate } from '../../../cli/lib/wrangler/local-database.ts';
import { SqliteDatabase } from '../../../cli/lib/wrangler/sqlite-database.ts';
import type { Database } from '../../../src/ledger/core/database.ts';

/** What D1 sets (https://developers.cloudflare.com/d1/platform/limits/), and workerd's SQLite. */
export const D1_LIMITS = {
  length: 2_000_000,
  sqlLength: 100_000,
  column: 100,
  exprDepth: 100,
  compoundSelect: 5,
  functionArg: 32,
  likePatternLength: 50,
  variableNumber: 100,
};

export async function openMemory(): Promise<SqliteDatabase> {
  const db = new SqliteDatabase(':memory:', D1_LIMITS);
  await migrate(db);
  return db;
}

/** All rows of a table; a number beyond 2^53 as text, as node:sqlite reads none. */
export async function readRows(db: Database, table: string): Promise<Record<string, unknown>[]> {
  const columns = await db
    .prepare('SELECT name FROM pragma_table_info(?1)')
    .bind(table)
    .all<{ name: string }>();
  const read = columns.results.map(({ name }) => {
    const isHuge = `typeof(${name}) = 'integer' AND abs(${name}) > ${Number.MAX_SAFE_INTEGER}`;
    return `iif(${isHuge}, CAST(${name} AS TEXT), ${name}) AS ${name}`;
  });
  return (await db.prepare(`SELECT ${read.join()} FROM ${table} ORDER BY 1, 2`).all()).results;
}

/** The rows of every table, by its name. */
export async function dump(db: Database): Promise<Record<string, unknown[]>> {
  const { results } = await db
    .prepare(`SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`)
    .all();
  const tables: Record<string, unknown[]> = {};
  for (const { name } of results) {
    // when a migration was applied is of no interest
    if (name === 'd1_migrations' || String(name).startsWith('sqlite_')) continue;
    tables[String(name)] = await readRows(db, String(name));
  }
  return tables;
}

/**
 * The definitions of tables and indexes; that a table was renamed once leaves quotes around its
 * name.
 */
export async function schema(db: Database): Promise<unknown[]> {
  const { results } = await db
    .prepare('SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name')
    .all<Record<string, string | null>>();
  return results.map(({ sql, ...rest }) => ({
    ...rest,
    sql: sql?.replace(/^(CREATE TABLE )"(\w+)"/, '$1$2'),
  }));
}
