/** The copy that a back-up is made of (cli/backup/copy-database.ts). */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { copyDatabase } from '../../cli/backup/copy-database.ts';
import { temporaryFolder } from '../support/cli/script-process.ts';

const folder = temporaryFolder();

it('tells how far it is, and has all of one moment while another connection writes', async () => {
  const from = join(folder, 'from');
  const db = new DatabaseSync(from);
  db.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (a, b)');
  const insert = db.prepare('INSERT INTO t VALUES (?, ?)');
  for (let i = 0; i < 1000; i++) insert.run(i, 'x'.repeat(1000));
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const told: [number, number][] = [];
  const to = join(folder, 'to');
  const copying = copyDatabase(from, to, (...progress) => void told.push(progress));
  // this thread goes on: it writes while the other one copies
  insert.run(1000, 'later');
  await copying;
  const copy = new DatabaseSync(to, { readOnly: true });
  const { rows } = copy.prepare('SELECT count(*) AS rows FROM t').get() as { rows: number };
  expect(rows).toBeOneOf([1000, 1001]);
  copy.close();
  db.close();
  const [first, last] = [told[0]!, told.at(-1)!];
  expect(first[0]).toBe(0);
  expect(last[0]).toBe(last[1]);
  expect(last[1]).toBeGreaterThan(1_000_000);
});

it('rejects with what SQLite says', async () => {
  const from = join(folder, 'none');
  writeFileSync(from, 'no database, which has a header of 100 bytes'.repeat(10));
  await expect(copyDatabase(from, join(folder, 'copy'), () => {})).rejects.toThrow(
    'not a database',
  );
});
