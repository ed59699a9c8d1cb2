/**
 * A database whose batches fail, or in between whose batches others are at work.
 */
import type { Database } from './edge.ts';
import type { Turns } from './turns.ts';

/** What a database throws that is gone, or whose connection was lost. */
export class Crash extends Error {
  override readonly name = 'Crash';
}

/**
 * The call fails, before it does anything or after that was committed. `lasting`: so does every
 * later one, as where a process ended.
 */
export interface Fault {
  when: 'before' | 'after';
  lasting: boolean;
}

export interface Disturbances {
  /** Asked at each call. */
  fault?: () => Fault | undefined;
  turns?: Turns;
}

type Call = <T>(work: () => Promise<T>) => Promise<T>;

export class DisturbedDatabase implements Database {
  readonly #db: Database;
  readonly #turns: Turns | undefined;
  fault: () => Fault | undefined;
  #isGone = false;

  constructor(db: Database, { fault = () => undefined, turns }: Disturbances = {}) {
    this.#db = db;
    this.#turns = turns;
    this.fault = fault;
  }

  prepare(sql: string): D1PreparedStatement {
    return new Statement(this.#db.prepare(sql), this.#call);
  }

  batch<T = unknown>(statements: D1PreparedStatement[]): Promise<D1Result<T>[]> {
    const inner = statements.map((statement) => (statement as Statement).inner);
    return this.#call(() => this.#db.batch<T>(inner));
  }

  readonly #call: Call = async (work) => {
    await this.#turns?.take();
    if (this.#isGone) throw new Crash('the process has ended');
    const fault = this.fault();
    if (fault?.lasting) this.#isGone = true;
    if (fault?.when === 'before') throw new Crash('before the call');
    const result = await work();
    if (fault !== undefined) throw new Crash('after the call');
    // the result takes its time too
    if (this.#turns?.isContended) await this.#turns.take();
    return result;
  };
}

class Statement implements D1PreparedStatement {
  readonly inner: D1PreparedStatement;
  readonly #call: Call;

  constructor(inner: D1PreparedStatement, call: Call) {
    this.inner = inner;
    this.#call = call;
  }

  /** Tests tell batches apart by it, as by that of D1's own class. */
  get statement(): string {
    return (this.inner as unknown as { statement: string }).statement;
  }

  bind(...values: unknown[]): D1PreparedStatement {
    return new Statement(this.inner.bind(...values), this.#call);
  }

  all<T = Record<string, unknown>>(): Promise<D1Result<T>> {
    return this.#call(() => this.inner.all<T>());
  }

  run<T = Record<string, unknown>>(): Promise<D1Result<T>> {
    return this.#call(() => this.inner.run<T>());
  }

  first<T = Record<string, unknown>>(column?: string): Promise<T | null> {
    return this.#call(() => this.inner.first<T>(column!));
  }

  raw(): never {
    throw new Error('raw() is not used by the ledger');
  }
}
