/**
 * Reads of D1 by name: statements go in as one batch, and parsed rows come out by the same names. A
 * parser is defined beside the SQL that selects its rows, and names each column's type.
 */
import { LedgerDamaged, readStored } from './checksum.ts';
import type { Database } from './database.ts';
import { type Cell, requireRowSum, SUMMED_COLUMNS, type SummedTable } from './row-sum.ts';

/** A row as D1 returns it, by column. */
export type Columns = Record<string, unknown>;

export class Row {
  readonly #columns: Columns;

  constructor(columns: Columns) {
    this.#columns = columns;
  }

  /** Throws a LedgerDamaged if the column has no text, an Error if there is no such column. */
  text(column: string): string {
    return this.textOrNull(column) ?? refuse(column);
  }

  textOrNull(column: string): string | null {
    const value = this.#value(column);
    return value === null || typeof value === 'string' ? value : refuse(column);
  }

  /** Throws a LedgerDamaged where the column has no integer, an Error where there is none. */
  integer(column: string): number {
    return this.integerOrNull(column) ?? refuse(column);
  }

  integerOrNull(column: string): number | null {
    const value = this.#value(column);
    return value === null || (typeof value === 'number' && Number.isSafeInteger(value))
      ? value
      : refuse(column);
  }

  /**
   * Throws a LedgerDamaged unless the sum of the row's columns is right.
   *
   * @param prefix of the columns' names, where the statement gave them one
   */
  requireSum(table: SummedTable, prefix = ''): void {
    const cells = SUMMED_COLUMNS[table].map((column) => this.cell(prefix + column));
    requireRowSum(cells, this.#value(`${prefix}sum`), `rows of the table ${table}`);
  }

  cell(column: string): Cell {
    return this.#value(column) as Cell;
  }

  #value(column: string): unknown {
    const value = this.#columns[column];
    if (value === undefined) throw new Error(`the statement selects no column ${column}`);
    return value;
  }
}

function refuse(column: string): never {
  throw new LedgerDamaged(`values of column ${column}`);
}

/** Statements, and the parser of their results. */
export interface Query<T> {
  statements: readonly D1PreparedStatement[];
  /** @param results one for each statement */
  read(results: readonly D1Result<Columns>[]): T;
}

/** Each row that the statements select, in order. */
export function many<T>(
  statements: D1PreparedStatement | readonly D1PreparedStatement[],
  parse: (row: Row) => T,
): Query<T[]> {
  return {
    statements: [statements].flat(),
    read: (all) => all.flatMap(({ results }) => results.map((columns) => parse(new Row(columns)))),
  };
}

/** The first row that the statement selects; undefined where there is none. */
export function first<T>(
  statement: D1PreparedStatement,
  parse: (row: Row) => T,
): Query<T | undefined> {
  const { statements, read } = many(statement, parse);
  return { statements, read: (results) => read(results)[0] };
}

/** The row of a statement that always selects one. */
export function one<T>(statement: D1PreparedStatement, parse: (row: Row) => T): Query<T> {
  const { statements, read } = many(statement, parse);
  return {
    statements,
    read(results) {
      const [value] = read(results);
      if (value === undefined) throw new Error('a statement that selects one row selected none');
      return value;
    },
  };
}

/** The rows of several queries, one query after the other. */
export function concat<T>(...queries: readonly Query<T[]>[]): Query<T[]> {
  return {
    statements: queries.flatMap(({ statements }) => statements),
    read: (results) => readEach(queries, results).flat(),
  };
}

/** Several queries as one, whose value is made of theirs. */
export function combine<T extends object, U>(
  queries: { [Name in keyof T]: Query<T[Name]> },
  make: (values: T) => U,
): Query<U> {
  const each = Object.values<Query<unknown>>(queries);
  return {
    statements: each.flatMap(({ statements }) => statements),
    read(results) {
      const values = readEach(each, results);
      return make(
        Object.fromEntries(Object.keys(queries).map((name, i) => [name, values[i]])) as T,
      );
    },
  };
}

export function write(statements: readonly D1PreparedStatement[]): Query<number[]> {
  return { statements, read: (results) => results.map(({ meta }) => meta.changes) };
}

/**
 * Runs the queries in their order, in one batch, which is one transaction of D1: reads see one
 * state, and writes happen all or not at all. Throws a LedgerDamaged if a row does not parse.
 */
export async function readBatch<T extends object>(
  db: Database,
  queries: { [Name in keyof T]: Query<T[Name]> },
): Promise<T> {
  const { statements, read } = combine<T, T>(queries, (values) => values);
  return parsed(statements.length === 0 ? [] : db.batch<Columns>([...statements]), read);
}

/** The value of a single query, in a batch of its own. */
export async function readQuery<T>(db: Database, query: Query<T>): Promise<T> {
  return (await readBatch(db, { query })).query;
}

/** The value of a query of one statement, without a batch, which is quicker. */
export async function readAlone<T>({ statements, read }: Query<T>): Promise<T> {
  return parsed(statements[0]!.all<Columns>(), (result) => read([result]));
}

async function parsed<T, U>(results: T | Promise<T>, read: (results: T) => U): Promise<U> {
  const found = await Promise.resolve(results).catch((error: unknown) => {
    // by SQLite; a SyntaxError here would be of D1's own answer, which may come whole next time
    throw /malformed JSON|JSON cannot hold BLOB/.test(String(error))
      ? new LedgerDamaged('texts in D1')
      : error;
  });
  return readStored(() => read(found));
}

function readEach<T>(queries: readonly Query<T>[], results: readonly D1Result<Columns>[]): T[] {
  let at = 0;
  return queries.map(({ statements, read }) => {
    const own = results.slice(at, at + statements.length);
    at += statements.length;
    return read(own);
  });
}
