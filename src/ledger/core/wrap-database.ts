/** A database whose calls are made in another way: counted, followed by a wait, or repeated. */
import type { Database } from './database.ts';

/** Calls with statements of the wrapped database. */
interface NativeCalls {
  all<T>(statement: D1PreparedStatement): Promise<D1Result<T>>;
  batch<T>(statements: D1PreparedStatement[]): Promise<D1Result<T>[]>;
}

/** Returns the database with these calls. The ledger uses neither first() nor raw(). */
export function wrapDatabase(db: Database, calls: NativeCalls): Database {
  const natives = new WeakMap<D1PreparedStatement, D1PreparedStatement>();
  function wrap(native: D1PreparedStatement): D1PreparedStatement {
    const bind = (...values: unknown[]) => wrap(native.bind(...values));
    const all = () => calls.all(native);
    const wrapped = { bind, all, run: all } as unknown as D1PreparedStatement;
    natives.set(wrapped, native);
    return wrapped;
  }
  return {
    prepare: (sql) => wrap(db.prepare(sql)),
    batch: (statements) => calls.batch(statements.map((each) => natives.get(each) ?? each)),
  };
}

type WaitFor = <T>(run: Promise<T>) => Promise<T>;

/** Returns the database, waiting for each call by `waitFor`. */
export const waitForCalls = (db: Database, waitFor: WaitFor): Database =>
  measureDatabase(db, () => {}, waitFor);

/**
 * Calls `tell` with the cost of each executed statement
 * (https://developers.cloudflare.com/d1/platform/pricing/), and waits for each call by `waitFor`.
 */
export function measureDatabase(
  db: Database,
  tell: (cost: D1Meta) => void,
  waitFor: WaitFor = (run) => run,
): Database {
  return wrapDatabase(db, {
    async all<T>(statement: D1PreparedStatement) {
      const result = await waitFor(statement.all<T>());
      tell(result.meta);
      return result;
    },
    async batch<T>(statements: D1PreparedStatement[]) {
      const results = await waitFor(db.batch<T>(statements));
      for (const { meta } of results) tell(meta);
      return results;
    },
  });
}
