/**
 * Staging: the tables in which an import makes a ledger beside the served one, and the script that
 * swaps them. `import_x` is filled in place of `x`. Definitions are read from the served tables, so
 * that only the migrations have them; so is the script, here or for the deployed database.
 */
import type { Database } from '../core/database.ts';
import { isNftSql } from '../core/output-bytes.ts';
import { many, type Row, readQuery } from '../core/read-batch.ts';

/**
 * Tables that are renamed when they are complete. Their indexes, which cannot be renamed, are
 * created then: 4 s at 1,000,000 NFTs.
 */
const LARGE_TABLES = ['output', 'output_rest', 'nft', 'output_detail'];

/** Tables whose few rows are copied. The last is the first table of the index of IDs. */
export const SMALL_TABLES = ['head', 'milestone', 'parameters', 'id_0'];

const STAGED_TABLES: readonly string[] = [...SMALL_TABLES, ...LARGE_TABLES];

/** Tables that are not emptied: also the publisher's, whose row names its ledger, and wrangler's. */
const NOT_EMPTIED = [...LARGE_TABLES, 'nft_index', 'd1_migrations'];

/**
 * Progress of the import, in one row. `identity`: its input. `milestone` and `payload`: the latest
 * milestone that was read whole.
 */
const CREATE_PROGRESS = `
  CREATE TABLE import_progress (
    one INTEGER PRIMARY KEY CHECK (one = 1), identity TEXT NOT NULL, position INTEGER NOT NULL,
    milestone INTEGER, payload TEXT)`;

export const HAS_PROGRESS = `SELECT name FROM sqlite_master WHERE name = 'import_progress'`;

export const SELECT_PROGRESS = 'SELECT identity, position FROM import_progress';

/** The platform has tables `_cf_…`. */
const SELECT_SCHEMA = `
  SELECT type, name, tbl_name, sql, (SELECT count(*) FROM d1_migrations) AS migrations
  FROM sqlite_master
  WHERE type IN ('table', 'index') AND sql IS NOT NULL
    AND name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*' ORDER BY name`;

function definitionFromRow(row: Row) {
  return {
    type: row.text('type'),
    name: row.text('name'),
    table: row.text('tbl_name'),
    sql: row.text('sql'),
    migrations: row.integer('migrations'),
  };
}

/** SQL of the rows of `nft` that belong to those outputs of import_output. */
export function selectNfts(condition: string): string {
  return `
    (id, output, changed) SELECT chain, id, created FROM import_output
    WHERE ${condition} AND ${isNftSql('bytes')}`;
}

/** Statements, without parameters, for each phase. */
export interface StagingScript {
  drop: string[];
  /** Makes the tables, none of which may be there. */
  create: string[];
  /** Replaces the served ledger by the staged one; run in one transaction. */
  swap: string[];
  /** How many were applied: a later one has not changed what is staged. */
  migrations: number;
}

export const stagingName = (table: string): string => `import_${table}`;

const refersToOther = ({ sql }: { sql: string }): boolean => /\bREFERENCES\b/.test(sql);

export async function readStagingScript(db: Database): Promise<StagingScript> {
  const definitions = await readQuery(db, many(db.prepare(SELECT_SCHEMA), definitionFromRow));
  const tables = definitions.filter(
    ({ type, name }) => type === 'table' && !name.startsWith(stagingName('')),
  );
  const indexesOf = (table: string) =>
    definitions.filter((each) => each.type === 'index' && each.table === table);
  const staged = tables.filter(({ name }) => STAGED_TABLES.includes(name));
  if (staged.length < STAGED_TABLES.length)
    throw new Error('the database lacks tables: its migrations are due');
  const drop = ['progress', ...STAGED_TABLES].map(
    (name) => `DROP TABLE IF EXISTS ${stagingName(name)}`,
  );
  const emptied = tables.filter(({ name }) => !NOT_EMPTIED.includes(name));
  return {
    drop,
    migrations: definitions[0]!.migrations,
    create: [...staged.map(({ name, sql }) => stagingDefinition(name, sql)), CREATE_PROGRESS],
    swap: [
      // rows that are deleted are billed, tables that are dropped are not; but SQLite deletes the
      // rows of a table that another one refers to before it drops the table
      ...[...emptied.filter(refersToOther), ...emptied.filter((each) => !refersToOther(each))].map(
        ({ name }) => `DROP TABLE ${name}`,
      ),
      ...emptied.flatMap(({ name, sql }) => [sql, ...indexesOf(name).map((index) => index.sql)]),
      ...SMALL_TABLES.map((name) => `INSERT INTO ${name} SELECT * FROM ${stagingName(name)}`),
      ...LARGE_TABLES.flatMap((name) => [
        `DROP TABLE ${name}`,
        `ALTER TABLE ${stagingName(name)} RENAME TO ${name}`,
        ...indexesOf(name).map((index) => index.sql),
      ]),
      ...drop,
    ],
  };
}

/** Makes the staging table's definition. SQLite quotes the name of a renamed table. */
function stagingDefinition(table: string, sql: string): string {
  const start = new RegExp(`^CREATE TABLE "?${table}"?(?=\\W)`);
  if (!start.test(sql)) throw new Error(`table ${table} is defined in an unknown way: ${sql}`);
  return sql.replace(start, `CREATE TABLE ${stagingName(table)}`);
}
