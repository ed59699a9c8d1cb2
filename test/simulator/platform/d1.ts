/**
 * D1 over SQLite: a batch is a transaction, each call takes time and may fail before or after it was
 * done, sessions may read a replica that lags, and limits hold that D1 documents
 * (https://developers.cloudflare.com/d1/platform/limits/).
 */
import type { SqliteDatabase } from '../../../cli/lib/wrangler/sqlite-database.ts';
import { connected } from './connections.ts';
import {
  currentOwner,
  currentUsage,
  isRequest,
  type Process,
  type Simulation,
} from './simulation.ts';

const CALL_MS = 4;
const RESULT_MS = 1;
/** How often a call that is held looks. */
const HELD_MS = 10;
const HUNG_MS = 500;
/** After which D1 ends a call. */
const LONGEST_MS = 30_000;
const MAX_PARAMETERS = 100;
const MAX_STATEMENT_BYTES = 100_000;
const MAX_VALUE_BYTES = 2_000_000;
/** Statements of one request. */
const MAX_CALLS_OF_INVOCATION = 1000;

/** What becomes of one call. */
export type D1Fault =
  | 'lost-before'
  | 'lost-after'
  | 'full'
  | 'slow'
  | 'hangs'
  | 'crash-before'
  | 'crash-after';

export interface D1Options {
  primary: SqliteDatabase;
  /** Reads that need not be the newest; the primary itself where there is no replica. */
  replica: () => SqliteDatabase;
  /** Asked at each call, with the SQL of its statements. */
  fault: (sql: readonly string[]) => D1Fault | undefined;
  /** Bytes that the database has, as each result says. */
  size?: () => number;
  /**
   * Statements of a request, and of an object until it is called, or its alarm rings, again; default:
   * 1,000, and without end.
   */
  mostOfObject?: number;
  /** Of a request's batches one that waits as long as it is this one. */
  held?: () => number;
  /** Whether what hangs goes on to. */
  isHanging?: () => boolean;
  /** Ends the process that calls. */
  crash: (process: Process) => void;
  counts: D1Counts;
}

export interface D1Counts {
  calls: number;
  /** Those that Durable Objects make: what clients ask is their own choice. */
  ofObjects: number;
  /** Most statements of one request. */
  mostOfRequest: number;
  rowsWritten: number;
  /** When a state of the NFT index was not written last, as another one had been meanwhile. */
  swapLostAt: number;
}

type Place = 'primary' | 'replica';

export function openD1(simulation: Simulation, options: D1Options) {
  const { primary, replica, fault, crash, counts, size = () => 0, held = () => 0 } = options;
  const { isHanging = () => false, mostOfObject = Number.POSITIVE_INFINITY } = options;
  const mostOfRequest = options.mostOfObject ?? MAX_CALLS_OF_INVOCATION;

  async function call<T>(
    statements: readonly Statement[],
    work: (db: SqliteDatabase) => Promise<T>,
    place: Place,
  ): Promise<T> {
    counts.calls++;
    const { invocation, process } = currentOwner() ?? {};
    const usage = currentUsage();
    const ofRequest = isRequest(process);
    if (!ofRequest) counts.ofObjects++;
    if (usage !== undefined) usage.d1Calls += statements.length;
    const { d1Calls = 0 } = usage ?? {};
    if (ofRequest) counts.mostOfRequest = Math.max(counts.mostOfRequest, d1Calls);
    if (d1Calls > (ofRequest ? mostOfRequest : mostOfObject))
      throw new Error('D1_ERROR: Too many API requests by single worker invocation.');
    for (const { sql, values } of statements) checkLimits(sql, values);
    return connected(async () => {
      const batch = invocation && ++invocation.d1Batches;
      while (ofRequest && held() === batch) await simulation.sleep(HELD_MS);
      return send(statements, work, place, process);
    });
  }

  async function send<T>(
    statements: readonly Statement[],
    work: (db: SqliteDatabase) => Promise<T>,
    place: Place,
    process: Process | undefined,
  ): Promise<T> {
    const due = fault(statements.map(({ sql }) => sql));
    if (due === 'crash-before' && process !== undefined) crash(process);
    // whoever would send it is gone: this never ends
    if (due === 'crash-before') await simulation.latency(CALL_MS);
    const end = simulation.now + LONGEST_MS;
    if (due === 'hangs')
      while (isHanging() && simulation.now < end) await simulation.arrival(HUNG_MS);
    await simulation.arrival(due === 'slow' ? 300 : CALL_MS);
    if (due === 'lost-before' || (due === 'hangs' && simulation.random.chance(0.5)))
      throw new Error('D1_ERROR: Network connection lost.');
    if (due === 'full' && needsRoom(statements))
      throw new Error('D1_ERROR: database or disk is full: SQLITE_FULL');
    let result: T;
    try {
      result = await work(place === 'primary' ? primary : replica());
    } catch (error) {
      throw new Error(`D1_ERROR: ${(error as Error).message}`);
    }
    // a row, or a value of one, has none
    for (const each of [result].flat() as unknown as (Partial<D1Result> | null)[]) {
      if (each?.meta === undefined) continue;
      each.meta.size_after = size();
      counts.rowsWritten += each.meta.rows_written;
      const isSwap = statements[0]!.sql.includes('INSERT INTO nft_index');
      if (isSwap && each.meta.changes === 0) counts.swapLostAt = simulation.now;
    }
    if (due === 'crash-after' && process !== undefined) crash(process);
    await simulation.latency(RESULT_MS);
    if (due === 'lost-after') throw new Error('D1_ERROR: Network connection lost.');
    return result;
  }

  /** A session goes on where it has written. */
  function session(first: Place) {
    let place = first;
    const placeFor = (statements: readonly Statement[]): Place => {
      if (statements.some(({ sql }) => !/^\s*(SELECT|WITH)/i.test(sql))) place = 'primary';
      return place;
    };
    const run: Run = (statement, work) => call([statement], work, placeFor([statement]));
    return {
      prepare: (sql: string) => new Statement(sql, [], run),
      batch: (statements: Statement[]) =>
        call(
          statements,
          (db) => db.batch(statements.map((statement) => statement.on(db))),
          placeFor(statements),
        ),
      getBookmark: () => null,
    };
  }

  return {
    ...session('primary'),
    withSession: (constraint = 'first-unconstrained') =>
      session(constraint === 'first-unconstrained' ? 'replica' : 'primary'),
  };
}

/** What a batch deletes makes room for what it inserts then; nothing is inserted into `head`. */
function needsRoom(statements: readonly Statement[]): boolean {
  const first = (verb: RegExp) => statements.findIndex(({ sql }) => verb.test(sql));
  const [deleted, inserted] = [first(/^\s*DELETE/i), first(/\bINSERT (?!INTO head\b)/)];
  if (deleted < 0) return inserted >= 0 || first(/^\s*UPDATE/i) >= 0;
  return inserted >= 0 && inserted < deleted;
}

type Run = <T>(statement: Statement, work: (db: SqliteDatabase) => Promise<T>) => Promise<T>;

class Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
  readonly #run: Run;

  constructor(sql: string, values: readonly unknown[], run: Run) {
    this.sql = sql;
    this.values = values;
    this.#run = run;
  }

  on(db: SqliteDatabase): D1PreparedStatement {
    return db.prepare(this.sql).bind(...this.values);
  }

  bind(...values: unknown[]): Statement {
    return new Statement(this.sql, values, this.#run);
  }

  all = () => this.#run(this, (db) => this.on(db).all());
  run = () => this.#run(this, (db) => this.on(db).run());
  first = (column?: string) => this.#run(this, (db) => this.on(db).first(column!));
}

function checkLimits(sql: string, values: readonly unknown[]): void {
  if (sql.length > MAX_STATEMENT_BYTES)
    throw new Error('D1_ERROR: statement too long: SQLITE_TOOBIG');
  if (values.length > MAX_PARAMETERS) throw new Error('D1_ERROR: too many SQL variables');
  for (const value of values) {
    if (value === undefined) throw new Error("D1_TYPE_ERROR: Type 'undefined' not supported");
    if (typeof value === 'string' && value.length > MAX_VALUE_BYTES)
      throw new Error('D1_ERROR: string or blob too big: SQLITE_TOOBIG');
  }
}
