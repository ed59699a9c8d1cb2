/**
 * A SQLite file behind the interface of D1, as far as the ledger uses it
 * (src/ledger/core/database.ts).
 *
 * With it an import runs in one process. With miniflare and workerd it would take three times the
 * memory.
 */
import {
  DatabaseSync,
  type DatabaseSyncOptions,
  type SQLInputValue,
  type StatementSync,
} from 'node:sqlite';
import type { Database } from '../../../src/ledger/core/database.ts';

/** To wait for another process that writes. */
const TIMEOUT_MS = 10_000;

/** Prepared statements that are kept: more than the ledger has. */
const MAX_PREPARED = 500;

type Limits = NonNullable<DatabaseSyncOptions['limits']>;

interface Opened {
  file: DatabaseSync;
  /** By their SQL: preparing takes longer than most of them take. */
  prepared: Map<string, Prepared>;
}

interface Prepared {
  statement: StatementSync;
  returnsRows: boolean;
}

export class SqliteDatabase implements Database {
  readonly #opened: Opened;
  readonly #limits: Limits;

  /** Opens the file, or makes it. */
  constructor(path: string, limits: Limits = {}) {
    this.#limits = limits;
    const file = new DatabaseSync(path, { timeout: TIMEOUT_MS, limits });
    // As workerd has it. With a write-ahead log, NORMAL loses only whole transactions, and these
    // only after a power failure.
    file.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    this.#opened = { file, prepared: new Map() };
  }

  prepare(sql: string): D1PreparedStatement {
    return new Statement(this.#opened, sql, []);
  }

  /** One transaction. */
  async batch<T = unknown>(statements: D1PreparedStatement[]): Promise<D1Result<T>[]> {
    return this.transact(() => statements.map((statement) => ours(statement).runNow<T>()));
  }

  /** Runs several statements without parameters. */
  exec(sql: string): void {
    this.#opened.file.exec(sql);
  }

  /** Does all of the work in one transaction, or nothing of it. */
  transact<T>(work: () => T): T {
    this.#opened.file.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.#opened.file.exec('COMMIT');
      return result;
    } catch (error) {
      if (this.#opened.file.isTransaction) this.#opened.file.exec('ROLLBACK');
      throw error;
    }
  }

  /** The whole database as bytes. */
  serialize(): Uint8Array {
    return this.#opened.file.serialize();
  }

  /** Replaces the whole database, which is in memory, by one that was serialized. */
  deserialize(bytes: Uint8Array): void {
    // into one that was in use, Node 26.10 ended by SIGSEGV in two of three runs of its tests
    this.close();
    this.#opened.file = new DatabaseSync(':memory:', { limits: this.#limits });
    this.#opened.file.deserialize(bytes);
  }

  close(): void {
    this.#opened.prepared.clear();
    this.#opened.file.close();
  }
}

function ours(statement: D1PreparedStatement): Statement {
  if (statement instanceof Statement) return statement;
  throw new TypeError('a statement of another database');
}

class Statement implements D1PreparedStatement {
  readonly #opened: Opened;
  /** The SQL, under the name that it has in D1's own class: tests tell batches apart by it. */
  readonly statement: string;
  readonly #values: readonly unknown[];

  constructor(opened: Opened, sql: string, values: readonly unknown[]) {
    this.#opened = opened;
    this.statement = sql;
    this.#values = values;
  }

  bind(...values: unknown[]): D1PreparedStatement {
    return new Statement(this.#opened, this.statement, values);
  }

  /** Changes are counted of what returns no rows. */
  runNow<T>(): D1Result<T> {
    const { statement, returnsRows } = this.#prepare();
    const values = this.#values as SQLInputValue[];
    const results = returnsRows ? (statement.all(...values) as T[]) : [];
    const changes = returnsRows ? 0 : Number(statement.run(...values).changes);
    const meta = {
      changes,
      changed_db: changes > 0,
      duration: 0,
      last_row_id: 0,
      rows_read: 0,
      rows_written: changes,
      size_after: 0,
    };
    return { success: true, results, meta };
  }

  #prepare(): Prepared {
    const { file, prepared } = this.#opened;
    let known = prepared.get(this.statement);
    if (known === undefined) {
      if (prepared.size >= MAX_PREPARED) prepared.clear();
      const statement = file.prepare(this.statement);
      known = { statement, returnsRows: statement.columns().length > 0 };
      // run() also tells the last row's key: that of a long content may be beyond 2^53
      if (!known.returnsRows) statement.setReadBigInts(true);
      prepared.set(this.statement, known);
    }
    return known;
  }

  async all<T = Record<string, unknown>>(): Promise<D1Result<T>> {
    return this.runNow<T>();
  }

  async run<T = Record<string, unknown>>(): Promise<D1Result<T>> {
    return this.runNow<T>();
  }

  async first<T = Record<string, unknown>>(column?: string): Promise<T | null> {
    const row = this.runNow<Record<string, unknown>>().results[0];
    if (row === undefined) return null;
    return (column === undefined ? row : row[column]) as T;
  }

  raw<T = unknown[]>(options: { columnNames: true }): Promise<[string[], ...T[]]>;
  raw<T = unknown[]>(options?: { columnNames?: false }): Promise<T[]>;
  async raw(): Promise<never> {
    throw new Error('raw() is not used by the ledger');
  }
}
