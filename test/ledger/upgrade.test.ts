/**
 * Upgrading a database (docs/operations.md#upgrade): the next migration is applied to a filled ledger, which
 * is served on if its schema stays, and refused if the migration raises it.
 */
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readServed } from '../../cli/lib/import/check-replacement.ts';
import { PROJECT } from '../../cli/lib/project.ts';
import { migrate } from '../../cli/lib/wrangler/local-database.ts';
import type { SqliteDatabase } from '../../cli/lib/wrangler/sqlite-database.ts';
import { readPosition } from '../../src/follower/ledger-position.ts';
import { hasEnded } from '../../src/follower/pass.ts';
import { LedgerUnreadable, SCHEMA } from '../../src/ledger/core/head.ts';
import { loadSnapshot } from '../../src/ledger/import/load-snapshot.ts';
import { ledgerStateHash } from '../../src/ledger/read/ledger-state-hash.ts';
import { prune } from '../../src/ledger/write/prune.ts';
import { openIndexLedger } from '../../src/nft-index/d1-ledger.ts';
import { verifySignature } from '../../src/platform/verify-signature.ts';
import { temporaryFolder } from '../support/cli/script-process.ts';
import { dump, openMemory } from '../support/ledger/memory-database.ts';
import { fileOf } from '../support/snapshot/memory-sink.ts';
import { readVector } from '../support/vectors.ts';

const folder = temporaryFolder();

const RULES = { keys: { keys: [], threshold: 1 }, verify: verifySignature };

const SENTENCE = `ledger schema ${SCHEMA + 1} is not supported by this version, which reads ${SCHEMA}: import the snapshot again (docs/operations.md#upgrade)`;

async function importSnapshot(db: SqliteDatabase): Promise<void> {
  const [full, delta] = ['full', 'delta'].map((kind) =>
    fileOf(readVector(`network-a/${kind}_snapshot.bin`)),
  );
  await loadSnapshot(db, full!, delta);
}

/** A database with a ledger, to which a migration was applied that does not exist. */
async function migrated(sql: string): Promise<{ db: SqliteDatabase; before: object }> {
  const db = await openMemory();
  await importSnapshot(db);
  const before = await dump(db);
  const migrations = mkdtempSync(join(folder, 'migrations-'));
  for (const name of readdirSync(join(PROJECT, 'migrations')))
    copyFileSync(join(PROJECT, 'migrations', name), join(migrations, name));
  writeFileSync(join(migrations, '9999_next.sql'), sql);
  await migrate(db, migrations);
  return { db, before };
}

it('a migration that adds a table leaves the ledger as it is, and served', async () => {
  const { db, before } = await migrated('CREATE TABLE next (id TEXT PRIMARY KEY, value TEXT);');
  expect(await dump(db)).toEqual({ ...before, next: [] });
  expect((await readPosition(db, RULES)).head.ledger).toBe(81);
});

it('a ledger whose schema a migration raised is refused, changed by nobody, and replaced by an import', async () => {
  const { db } = await migrated(`UPDATE head SET schema = ${SCHEMA + 1};`);
  // something to prune
  db.exec(
    "INSERT INTO milestone (idx, id, timestamp, blocks, nft_changes, sum) VALUES (1, 'ab', 1, 0, 0, 0)",
  );
  const before = await dump(db);
  for (const attempt of [
    () => readPosition(db, RULES),
    () => hasEnded(db, 81, () => {}),
    () => prune(db, 10),
    () => ledgerStateHash(db),
  ]) {
    await expect(attempt()).rejects.toThrow(LedgerUnreadable);
    await expect(attempt()).rejects.toThrow(SENTENCE);
  }
  expect((await openIndexLedger(db).readState()).head).toBeUndefined();
  expect(await dump(db)).toEqual(before);

  await importSnapshot(db);
  expect((await readPosition(db, RULES)).head.ledger).toBe(81);
  await prune(db, 10);
});

it('a ledger of schema 2, whose rows are read as they are, becomes one of schema 3', async () => {
  const db = await openMemory();
  await importSnapshot(db);
  const before = await dump(db);
  db.exec('UPDATE head SET schema = 2, sum = sum - 1');
  db.exec(readFileSync(join(PROJECT, 'migrations/0004_rests.sql'), 'utf8'));
  expect(await dump(db)).toEqual(before);
  expect((await readPosition(db, RULES)).head.ledger).toBe(81);
});

it('a ledger of schema 1, whose sums are others, is refused by name and replaced by an import', async () => {
  const db = await openMemory();
  await importSnapshot(db);
  const served = await readServed(db);
  db.exec('UPDATE head SET schema = 1, sum = 0; UPDATE parameters SET sum = sum - length(bytes);');
  await expect(readPosition(db, RULES)).rejects.toThrow(
    `ledger schema 1 is not supported by this version, which reads ${SCHEMA}: import the snapshot`,
  );
  expect(await readServed(db)).toEqual(served);
  await importSnapshot(db);
  expect((await readPosition(db, RULES)).head.ledger).toBe(81);
});
