/**
 * Long contents are in two rows (docs/storage.md#long-contents), of unspent outputs and of those that
 * kept milestones spent: none may be without the other.
 */
import type { Database } from '../../../src/ledger/core/database.ts';
import { spentSql } from '../../../src/ledger/packs/milestone-part.ts';

const SELECT_STRAYS = `
  WITH named AS MATERIALIZED (
    SELECT rest FROM output WHERE rest IS NOT NULL
    UNION ALL SELECT ${spentSql.rest('s.value')} FROM milestone_part p CROSS JOIN json_each(p.spent) s
    WHERE ${spentSql.rest('s.value')} IS NOT NULL)
  SELECT CAST(key AS TEXT) AS key FROM output_rest WHERE key NOT IN (SELECT rest FROM named)
  UNION ALL SELECT CAST(rest AS TEXT) FROM named WHERE rest NOT IN (SELECT key FROM output_rest)`;

/**
 * Keys of rests that no output has, and of those that an output has and that are not there. As text:
 * one that is wrong may be of any size.
 */
export async function strayRests(db: Database): Promise<string[]> {
  const { results } = await db.prepare(SELECT_STRAYS).all<{ key: string }>();
  return results.map(({ key }) => key);
}

/** How many of them have long contents. */
export async function countRests(db: Database): Promise<number> {
  return Number(await db.prepare('SELECT count(*) AS rests FROM output_rest').first('rests'));
}
