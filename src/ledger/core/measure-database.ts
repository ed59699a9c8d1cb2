/** A database that tells what each call costs, or is followed by a wait. */
import type { Database } from './database.ts';

/** Returns the database, waiting after each statement or batch. */
export function waitAfterCalls(db: Database, wait: () => Promise<void>): Database {
  return measureDatabase(
    db,
    () => {},
    async (run) => {
      try {
        return await run;
      } finally {
        await wait();
      }
    },
  );
}

/**
 * Calls `tell` with the cost of each executed statement
 * (https://developers.cloudflare.com/d1/platform/pricing/), and waits for each call by `waitFor`.
 */
export function measureDatabase(
  db: Database,
  tell: (cost: D1Meta) => void,
  waitFor: <T>(run: Promise<T>) => Promise<T> = (run) => run,
): Database {
  const measured = <T>(result: D1Result<T>): D1Result<T> => {
    tell(result.meta);
    return result;
  };
  const natives = new WeakMap<D1PreparedStatement, D1PreparedStatement>();
  function wrap(native: D1PreparedStatement): D1PreparedStatement {
    const wrapped = {
      bind: (...values: unknown[]) => wrap(native.bind(...values)),
      all: async () => measured(await waitFor(native.all())),
      run: async () => measured(await waitFor(native.run())),
      async first(column?: string) {
        const [row] = measured(await waitFor(native.all<Record<string, unknown>>())).results;
        return row === undefined ? null : column === undefined ? row : row[column];
      },
      raw() {
        throw new TypeError('raw() does not tell what it costs');
      },
    } as unknown as D1PreparedStatement;
    natives.set(wrapped, native);
    return wrapped;
  }
  return {
    prepare: (sql) => wrap(db.prepare(sql)),
    async batch<T>(statements: D1PreparedStatement[]) {
      const natively = statements.map((each) => natives.get(each) ?? each);
      const results = await waitFor(db.batch<T>(natively));
      return results.map(measured);
    },
  };
}
