/**
 * A database that fails, or in whose batches somebody else comes between: at one chosen batch.
 */
import type { Database } from './edge.ts';

/** What a database throws that is gone. */
export class Crash extends Error {
  override readonly name = 'Crash';
}

/**
 * `before` and `after`: the batch fails, though after it was committed in the second case.
 * `lasting`: everything after it fails too, as where a process ends. `between`: somebody works
 * before the batch.
 */
export type Disturbance =
  | { at: number; fail: 'before' | 'after'; lasting: boolean }
  | { at: number; between: () => Promise<void> };

export class DisturbedDatabase implements Database {
  readonly #db: Database;
  #due: Disturbance | undefined;
  #batches = 0;
  #gone = false;

  constructor(db: Database) {
    this.#db = db;
  }

  /** From now on, with batches counted from 1. */
  disturb(due: Disturbance): void {
    this.#due = due;
    this.#batches = 0;
  }

  /** No disturbance any more. Whether the last one came about. */
  calm(): boolean {
    const cameAbout = this.#due === undefined || this.#batches >= this.#due.at;
    this.#due = undefined;
    this.#gone = false;
    return cameAbout;
  }

  prepare(sql: string): D1PreparedStatement {
    if (this.#gone) throw new Crash('the process has ended');
    return this.#db.prepare(sql);
  }

  async batch<T = unknown>(statements: D1PreparedStatement[]): Promise<D1Result<T>[]> {
    if (this.#gone) throw new Crash('the process has ended');
    const due = this.#due;
    if (due === undefined || ++this.#batches !== due.at) return this.#db.batch<T>(statements);
    if ('between' in due) {
      await due.between();
      return this.#db.batch<T>(statements);
    }
    this.#gone = due.lasting;
    if (due.fail === 'after') await this.#db.batch<T>(statements);
    throw new Crash(`${due.fail} batch ${due.at}`);
  }
}
