/**
 * Long contents are in two rows (docs/storage.md#long-contents): none may be without the other.
 */
import type { Database } from '../../../src/ledger/core/database.ts';

const SELECT_STRAYS = `
  SELECT key FROM output_rest WHERE key NOT IN (SELECT rest FROM output WHERE rest IS NOT NULL)
  UNION ALL SELECT rest FROM output
  WHERE rest IS NOT NULL AND rest NOT IN (SELECT key FROM output_rest)`;

/** Keys of rests that no output has, and of those that an output has and that are not there. */
export async function strayRests(db: Database): Promise<number[]> {
  const { results } = await db.prepare(SELECT_STRAYS).all<{ key: number }>();
  return results.map(({ key }) => key);
}

/** How many outputs have long contents. */
export async function countRests(db: Database): Promise<number> {
  return Number(await db.prepare('SELECT count(*) AS rests FROM output_rest').first('rests'));
}
