/**
 * The scrub (docs/storage.md#the-scrub): it finds nothing in a ledger that is whole. On copies, in
 * which one cell is another or a row is gone, it tells.
 */
import { SqliteDatabase } from '../../../cli/lib/wrangler/sqlite-database.ts';
import type { Database } from '../../../src/ledger/core/database.ts';
import { wrapDatabase } from '../../../src/ledger/core/wrap-database.ts';
import { OutputType } from '../../../src/stardust/wire/output.ts';
import { readRows } from '../../support/ledger/memory-database.ts';
import type { Random } from '../../support/network/random.ts';
import { flip, whereIs } from '../steps/damage.ts';
import type { World } from '../world.ts';

/** Of a step. */
const SCRUBBED_ROWS = 50;
const MAX_STEPS = 5000;

/** Of the outputs that are read one comes wrong, once, though it is whole on the disk. */
function erring(db: Database): Database {
  let isDone = false;
  const spoil = <T>(results: D1Result<T>[]): D1Result<T>[] => {
    const rows = results.flatMap((each) => each.results as { created?: number }[]);
    const row = rows.find(({ created }) => created !== undefined);
    if (row !== undefined && !isDone) row.created!++;
    isDone ||= row !== undefined;
    return results;
  };
  return wrapDatabase(db, {
    all: async <T>(statement: D1PreparedStatement) => spoil([await statement.all<T>()])[0]!,
    batch: async <T>(statements: D1PreparedStatement[]) => spoil(await db.batch<T>(statements)),
  });
}

/** Two rounds: one may have begun before. Throws what the scrub throws. */
export async function scrubTwice(world: World, db = erring(world.node.sqlite)): Promise<void> {
  const { scrub, MODULES } = world.node.product;
  const tables = MODULES.flatMap(({ ledger }) => ledger?.tables ?? []);
  let rounds = 0;
  for (let steps = 0; rounds < 2 && steps < MAX_STEPS; steps++)
    if (await scrub(db, SCRUBBED_ROWS, tables)) rounds++;
  if (rounds < 2) world.wrong('liveness', 'the scrub ends no round');
}

/** Tables with a sum over all of their rows: it tells one that is gone, too. */
const SUMMED = /^(output|id_\d|nft_past|parameters|receipt)$/;
/** Those that are compared with others. */
const READ = /^(nft|output_detail|nft_change)$/;

const EMPTY: unknown[] = [null, ''];
/** Of a milestone's changes, which only have to differ. */
const UNREAD = 'part';

/** The last digit before `=` has bits that nobody reads (RFC 4648, section 3.5). */
const isSameBase64 = (text: unknown, other: unknown): boolean =>
  `${text}`.endsWith('=') &&
  Buffer.from(`${text}`, 'base64').equals(Buffer.from(`${other}`, 'base64'));

/** Of these so many that have rows, in copies of their own. */
const TABLES = 2;

/** A cell of a table, or a row, is damaged: the scrub tells. */
export async function checkScrubTells(world: World, random: Random): Promise<void> {
  const { sqlite } = world.node;
  const whole = sqlite.serialize();
  const names = await sqlite
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    .all<{ name: string }>();
  const first = await sqlite.prepare('SELECT min(idx) AS first FROM milestone').first('first');
  const isFilled = (await sqlite.prepare('SELECT indexed FROM head').first('indexed')) === 'all';
  const known = names.results.filter(({ name }) => SUMMED.test(name) || READ.test(name));
  let left = TABLES;
  for (const { name } of random.sample(known, known.length)) {
    if (left === 0) break;
    const isSummed = SUMMED.test(name);
    // a milestone says how many NFTs it changed, as long as it and the one before are kept
    const isCounted = ({ milestone }: Record<string, unknown>) => Number(milestone) > Number(first);
    const all = await readRows(sqlite, name);
    // while an index of all kinds is filled only NFTs are compared
    const isCompared = ({ kind }: Record<string, unknown>) => isFilled || kind === OutputType.Nft;
    const rows =
      { nft_change: all.filter(isCounted), output_detail: all.filter(isCompared) }[name] ?? all;
    if (rows.length === 0) continue;
    left--;
    const row = random.pick(rows);
    const isRead = (column: string) => column !== UNREAD && !EMPTY.includes(row[column]);
    const columns = Object.keys(row).filter(isRead);
    const column = random.pick(columns);
    const isGone = isSummed && random.chance(0.5);
    const copy = new SqliteDatabase(':memory:');
    copy.deserialize(whole);
    copy.exec('PRAGMA foreign_keys = OFF');
    const sql = isGone
      ? `DELETE FROM ${name} WHERE ?1 IS NULL AND ${whereIs(row)}`
      : `UPDATE ${name} SET ${column} = ?1 WHERE ${whereIs(row)}`;
    const cell = isGone ? null : flip(row[column], random);
    const change = copy
      .prepare(sql)
      .bind(cell, ...Object.values(row))
      .run();
    // none where a constraint is against it
    const changes = await change.then(
      ({ meta }) => meta.changes,
      () => 0,
    );
    const isTold = await scrubTwice(world, copy).then(
      () => false,
      (error: Error) => error.name === 'LedgerDamaged',
    );
    if (changes > 0 && !isTold && !isSameBase64(row[column], cell))
      world.wrong('safety', `the scrub does not tell ${isGone ? 'a row' : column} of ${name}`);
    copy.close();
  }
}
