/**
 * Damage on disk, one character at a time: in each column of each row of some tables.
 */
import type { SqliteDatabase } from '../../../cli/lib/wrangler/sqlite-database.ts';
import type { Random } from '../network/random.ts';

/** Of a table. */
const ROWS = Number(process.env.FLIPPED_ROWS ?? 3);

/**
 * Changes a character, calls `visit`, and puts back what was there; in some rows of each table.
 *
 * @param tables each with the column that names its rows
 */
export async function flipRows(
  db: SqliteDatabase,
  random: Random,
  tables: Readonly<Record<string, string>>,
  visit: (column: string) => Promise<void>,
): Promise<void> {
  // a disk does not know them
  db.exec('PRAGMA foreign_keys = OFF');
  for (const [table, key] of Object.entries(tables)) {
    const { results: rows } = await db.prepare(`SELECT * FROM ${table}`).all();
    for (const row of random.sample(rows, Math.min(rows.length, ROWS)))
      for (const [column, value] of Object.entries(row)) {
        const flipped = flip(value, random.below(1000) / 1000);
        if (flipped === undefined || value === '[]') continue;
        const change = (to: unknown, name: unknown) =>
          db.prepare(`UPDATE ${table} SET ${column} = ?1 WHERE ${key} = ?2`).bind(to, name).run();
        try {
          await change(flipped, row[key]);
        } catch {
          continue; // against a constraint
        }
        await visit(`${table}.${column}`);
        await change(value, column === key ? flipped : row[key]);
      }
  }
}

/** With another character at a place, 0 to 1. */
function flip(value: unknown, place: number): string | number | undefined {
  const text = String(value);
  if (value === null || text === '') return undefined;
  const at = Math.floor(text.length * place);
  const other = String.fromCharCode(text.charCodeAt(at) ^ 1);
  const flipped = text.slice(0, at) + other + text.slice(at + 1);
  return typeof value === 'number' ? Number(flipped) : flipped;
}
