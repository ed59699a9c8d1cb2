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
import { LedgerMoved } from '../../src/ledger/core/fence.ts';
import { LedgerUnreadable, readHead, SCHEMA } from '../../src/ledger/core/head.ts';
import { type LoadOptions, loadSnapshot } from '../../src/ledger/import/load-snapshot.ts';
import { ledgerStateHash } from '../../src/ledger/read/ledger-state-hash.ts';
import { prune } from '../../src/ledger/write/prune.ts';
import { resolveVerdicts } from '../../src/ledger/write/resolve-verdicts.ts';
import { createUnreferencedIndex } from '../../src/ledger/write/unreferenced-index.ts';
import { openIndexLedger } from '../../src/nft-index/d1-ledger.ts';
import { verifySignature } from '../../src/platform/verify-signature.ts';
import { temporaryFolder } from '../support/cli/script-process.ts';
import {
  disturbed,
  startLedger,
  storeNow,
  takeNext,
  withoutVerdicts,
  withTips,
} from '../support/ledger/ledger-harness.ts';
import { dump, openMemory } from '../support/ledger/memory-database.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';
import { fileOf } from '../support/snapshot/memory-sink.ts';
import { readVector } from '../support/vectors.ts';

const folder = temporaryFolder();

const RULES = { keys: { keys: [], threshold: 1 }, verify: verifySignature };

const SENTENCE = `ledger schema ${SCHEMA + 1} is not supported by this version, which reads ${SCHEMA}: install the newer release (docs/operations.md#upgrade)`;

async function importSnapshot(db: SqliteDatabase, options?: LoadOptions): Promise<void> {
  const [full, delta] = ['full', 'delta'].map((kind) =>
    fileOf(readVector(`network-a/${kind}_snapshot.bin`)),
  );
  await loadSnapshot(db, full!, delta, options);
}

/** Applies a migration that does not exist. */
async function migrateBy(sql: string, db: SqliteDatabase): Promise<void> {
  const migrations = mkdtempSync(join(folder, 'migrations-'));
  for (const name of readdirSync(join(PROJECT, 'migrations')))
    copyFileSync(join(PROJECT, 'migrations', name), join(migrations, name));
  writeFileSync(join(migrations, '9999_next.sql'), sql);
  await migrate(db, migrations);
}

/** A database with a ledger, to which a migration was applied that does not exist. */
async function migrated(sql: string): Promise<{ db: SqliteDatabase; before: object }> {
  const db = await openMemory();
  await importSnapshot(db);
  const before = await dump(db);
  await migrateBy(sql, db);
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

it('an import replaces no ledger that was migrated meanwhile: its own was not', async () => {
  const db = await openMemory();
  await importSnapshot(db);
  const before = await dump(db);
  const beforeReplacing = () => migrateBy('UPDATE head SET sum = sum + 1, schema = schema + 1', db);
  await expect(importSnapshot(db, { beforeReplacing })).rejects.toThrow('migrated meanwhile');
  expect((await dump(db)).output).toEqual(before.output);
  await expect(readHead(db)).rejects.toThrow(SENTENCE);
});

/** The batches that store blocks, and that write verdicts. */
const WRITES = /INSERT INTO pack|UPDATE pack SET (?:next_block|records)/;

it('a follower stores and judges nothing that it read before a migration raised the schema', async () => {
  const db = await openMemory();
  const network = new SyntheticNetwork({ seed: 'raised' });
  network.milestone();
  const rig = await startLedger(db, network, 0);
  await takeNext(rig, db);
  const producer = network.transfer(network.genesisCoins[0]!, 1);
  const [produced, consumed] = [producer, network.transfer(producer.coins[0]!, 2)].map((each) =>
    network.attachTransaction(each, [network.milestoneBlock!]),
  );
  await storeNow(withTips(rig, consumed!), db);
  await storeNow(withTips(rig, produced!), withoutVerdicts(db));
  const head = (await readHead(db))!;
  const { pack } = await dump(db);
  const raising = disturbed(db, async (sql) => {
    if (WRITES.test(sql)) db.exec(`UPDATE head SET schema = ${SCHEMA + 1}, sum = sum + 1`);
  });
  const tools = { index: createUnreferencedIndex(), head, verify: verifySignature };
  const late = network.note([network.milestoneBlock!]);
  for (const work of [
    () => resolveVerdicts(raising, tools, 3),
    () => storeNow(withTips(rig, late), raising),
  ]) {
    await expect(work()).rejects.toThrow(LedgerMoved);
    expect((await dump(db)).pack).toEqual(pack);
    db.exec(`UPDATE head SET schema = ${SCHEMA}, sum = sum - 1`);
  }
  await resolveVerdicts(db, tools, 3);
  expect((await dump(db)).pack).not.toEqual(pack);
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
    `ledger schema 1 is not supported by this version, which reads ${SCHEMA}: migrate, or import the snapshot again (docs/operations.md#upgrade)`,
  );
  expect(await readServed(db)).toEqual(served);
  await importSnapshot(db);
  expect((await readPosition(db, RULES)).head.ledger).toBe(81);
});
