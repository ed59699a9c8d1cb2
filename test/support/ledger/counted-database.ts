/**
 * D1 with a count of the rows that it says were written, which is what it bills by.
 */
interface Counts {
  rowsWritten: number;
  rowsRead: number;
}

/** The database as the follower and the publisher use it, and what they have cost so far. */
export function countedDatabase(db: D1Database): { db: D1Database; counts: Counts } {
  const counts: Counts = { rowsWritten: 0, rowsRead: 0 };
  const count = <T>(result: D1Result<T>): D1Result<T> => {
    counts.rowsWritten += result.meta.rows_written;
    counts.rowsRead += result.meta.rows_read;
    return result;
  };
  const natives = new WeakMap<object, D1PreparedStatement>();
  const wrap = (native: D1PreparedStatement): D1PreparedStatement => {
    const wrapped = {
      bind: (...values: unknown[]) => wrap(native.bind(...values)),
      all: async () => count(await native.all()),
      run: async () => count(await native.run()),
      async first(column?: string) {
        const [row] = count(await native.all<Record<string, unknown>>()).results;
        return row === undefined ? null : column === undefined ? row : row[column];
      },
    } as unknown as D1PreparedStatement;
    natives.set(wrapped, native);
    return wrapped;
  };
  const counted = {
    prepare: (sql: string) => wrap(db.prepare(sql)),
    async batch<T>(statements: D1PreparedStatement[]) {
      const results = await db.batch<T>(statements.map((each) => natives.get(each)!));
      for (const result of results) count(result);
      return results;
    },
  } as unknown as D1Database;
  return { db: counted, counts };
}
