/**
 * Databases in memory with the tables of the migrations, and all that one holds, to compare.
 */
import { migrate } from '../../../cli/lib/wrangler/local-database.ts';
import { SqliteDatabase } from '../../../cli/lib/wrangler/sqlite-database.ts';
import type { Database } from '../../../src/ledger/core/database.ts';

export async function openMemory(): Promise<SqliteDatabase> {
  const db = new SqliteDatabase(':memory:');
  await migrate(db);
  return db;
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
    tables[String(name)] = (await db.prepare(`SELECT * FROM ${name} ORDER BY 1, 2`).all()).results;
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
