/**
 * Rows as they travel between D1 and the protocol: hex IDs, base64 bytes, and JSON arrays, cut into
 * pieces, instead of many parameters: D1 binds at most 100, and a text of at most 2 MB
 * (https://developers.cloudflare.com/d1/platform/limits/).
 */
export type Database = Pick<D1Database, 'prepare' | 'batch'>;

/** Characters of one bound text, below D1's 2,000,000 bytes. */
const MAX_TEXT = 1_000_000;

/** Yields the values as JSON arrays of at most N characters; each value must fit one by itself. */
export function* jsonPieces(values: Iterable<unknown>): Generator<string> {
  let piece: string[] = [];
  let length = 2;
  for (const value of values) {
    const text = JSON.stringify(value);
    if (piece.length > 0 && length + text.length + 1 > MAX_TEXT) {
      yield `[${piece.join(',')}]`;
      piece = [];
      length = 2;
    }
    piece.push(text);
    length += text.length + 1;
  }
  if (piece.length > 0) yield `[${piece.join(',')}]`;
}

/** One statement a piece; `sql` takes the piece as ?1 and `others` as ?2 and on. */
export function forEachPiece(
  db: Database,
  sql: string,
  values: Iterable<unknown>,
  ...others: (string | number | null)[]
): D1PreparedStatement[] {
  const pieces = [...jsonPieces(values)];
  if (pieces.length === 0) return [];
  const statement = db.prepare(sql);
  return pieces.map((piece) => statement.bind(piece, ...others));
}

/** Runs statements that return nothing, as one transaction: all of them happen, or none. */
export async function runBatch(
  db: Database,
  statements: readonly D1PreparedStatement[],
): Promise<void> {
  if (statements.length > 0) await db.batch([...statements]);
}

/** A text as an SQL literal, for statements that go into a file and can bind nothing. */
export const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;
