/**
 * Upgrading a database of the release before (docs/upgrading.md): the migrations destroy nothing of
 * it, what they make is refused until a snapshot is imported, and the import leaves nothing of it.
 */
import { copyFileSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { PROJECT } from '../../scripts/lib/project.ts';
import { migrate } from '../../scripts/lib/wrangler/local-database.ts';
import { SqliteDatabase } from '../../scripts/lib/wrangler/sqlite-database.ts';
import { saveBlocksStatus, saveFollowerState } from '../../src/follower/follower-status.ts';
import { readPosition } from '../../src/follower/ledger-position.ts';
import { parseNftQuery } from '../../src/http/nft-query.ts';
import { headFromRow, SELECT_HEAD } from '../../src/ledger/head.ts';
import { loadSnapshot } from '../../src/ledger/import/import-snapshot.ts';
import { fillNftLists } from '../../src/ledger/nft-list/fill-lists.ts';
import { readNftList } from '../../src/ledger/nft-list/read-list.ts';
import { readNodeStatus } from '../../src/ledger/node-status.ts';
import { LedgerUnreadable, OLD_TABLES, refuseOldLedger } from '../../src/ledger/schema.ts';
import { computeWhiteFlag } from '../../src/node/compute-white-flag.ts';
import { verifySignature } from '../../src/verify-signature.ts';
import { asFile } from '../support/ledger/ledger-harness.ts';
import { openMemory, schema } from '../support/ledger/memory-database.ts';
import { FOLLOWING } from '../support/ledger/status-settings.ts';
import { fullSnapshot } from '../support/network/network-snapshot.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';
import { plainList } from '../support/nft-list/plain-list.ts';
import { recordedNfts } from '../support/nft-list/recorded-nfts.ts';
import { temporaryFolder } from '../support/scripts/script-process.ts';
import { readVector } from '../support/vectors.ts';

const folder = temporaryFolder();

/** Migrations of version 0.1. */
const OLD_MIGRATIONS = ['0001_ledger.sql', '0002_nft_index.sql'];

/** Those of version 0.2, which has no lists. */
const MIGRATIONS_WITHOUT_LISTS = [...OLD_MIGRATIONS, '0003_packs.sql'];

/** A row for every table of version 0.1, as that version wrote them. */
const OLD_ROWS = [
  "INSERT INTO head VALUES (1, 'old', 0, 80, 81, 'aa', '900', 1700000000000)",
  "INSERT INTO milestone VALUES (81, 'ab', 1700000005, 'AAAA')",
  "INSERT INTO block VALUES (1, 'b1', 81, 0, NULL, NULL, 'AAAA', 80)",
  "INSERT INTO block VALUES (2, 'b2', NULL, NULL, NULL, NULL, 'AAAA', 81)",
  "INSERT INTO block_bytes VALUES (1, 'AAAA'), (2, 'BBBB')",
  "INSERT INTO output VALUES (1, 'c1', 'AAAA', 'd1', 'b1', 81, 1700000005, NULL, NULL, NULL, 1)",
  'INSERT INTO input VALUES (2, 1)',
  'INSERT INTO waiting VALUES (7, 2)',
  'INSERT INTO spent VALUES (81, 1)',
  "INSERT INTO nft VALUES ('d1', 'c1', 81)",
  "INSERT INTO nft_change VALUES (81, 'd1')",
  "INSERT INTO parameters VALUES (0, 80, 'AAAA')",
  "INSERT INTO receipt VALUES (81, 'AAAA')",
  "INSERT INTO follower (one, state) VALUES (1, 'following')",
  "UPDATE nft_index SET generation = 'old', token = 't'",
];

const rowsOf = async (db: SqliteDatabase, table: string) =>
  (await db.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all()).results;

let db: SqliteDatabase;
let before: Record<string, unknown[]>;

async function openWith(migrations: readonly string[]): Promise<SqliteDatabase> {
  const old = mkdtempSync(join(folder, 'migrations-'));
  for (const name of migrations) copyFileSync(join(PROJECT, 'migrations', name), join(old, name));
  const made = new SqliteDatabase(':memory:');
  await migrate(made, old);
  return made;
}

beforeEach(async () => {
  db = await openWith(OLD_MIGRATIONS);
  for (const sql of OLD_ROWS) db.exec(sql);
  before = {};
  for (const name of OLD_TABLES) before[name] = await rowsOf(db, name.replace(/^v1_/, ''));
  await migrate(db);
});

describe('the migrations', () => {
  it('keep every row of every table', async () => {
    const after: typeof before = {};
    for (const name of OLD_TABLES) after[name] = await rowsOf(db, name);
    expect(after).toEqual(before);
    expect(Object.values(before).every((rows) => rows.length > 0)).toBe(true);
    expect(await rowsOf(db, 'follower')).toMatchObject([
      { state: 'following', blocks_by: null, newest_block: null },
    ]);
    expect(await rowsOf(db, 'nft_index')).toMatchObject([{ generation: 'old', token: 't' }]);
  });

  it('make the tables that a new database has', async () => {
    expect(await schema(db)).toEqual(await schema(await openMemory()));
  });
});

describe('the ledger of version 0.1', () => {
  const SENTENCE = /version 0\.1, at milestone 81: import a snapshot again/;

  it('is recognised', async () => {
    await expect(refuseOldLedger(db)).rejects.toThrow(LedgerUnreadable);
    await expect(refuseOldLedger(db)).rejects.toThrow(SENTENCE);
    // not so a new database, nor one of version 0.1 into which nothing was imported
    await refuseOldLedger(await openMemory());
    db.exec('DELETE FROM v1_head');
    await refuseOldLedger(db);
  });

  it('is answered from by nobody, and followed by nobody', async () => {
    const request = {
      index: 82,
      timestamp: 1_700_000_010,
      parents: ['b1'.repeat(32)],
      previousMilestoneId: 'ab'.repeat(32),
    };
    await expect(computeWhiteFlag(db, request, { keys: undefined })).rejects.toThrow(SENTENCE);
    const rules = { keys: { keys: [], threshold: 1 }, verify: verifySignature };
    await expect(readPosition(db, rules)).rejects.toThrow(SENTENCE);
  });

  it('is replaced by an import, which leaves nothing of it', async () => {
    const bytes = readVector('network-a/full_snapshot.bin');
    const file = {
      chunks: (async function* () {
        yield bytes;
      })(),
      size: bytes.length,
    };
    await loadSnapshot(db, file, undefined);
    await refuseOldLedger(db);
    const names = (await schema(db)).map((each) => (each as { tbl_name: string }).tbl_name);
    expect(names.filter((name) => name.startsWith('v1_'))).toEqual([]);
    expect(await rowsOf(db, 'head')).toMatchObject([{ schema: 2, ledger: 0 }]);
  });
});

describe('the ledger of version 0.2', () => {
  const INDEX = 60;

  it('is kept; its lists are filled in steps, its follower tells how blocks come in', async () => {
    const old = await openWith(MIGRATIONS_WITHOUT_LISTS);
    const snapshot = fullSnapshot(recordedNetwork('network-n'), { target: INDEX });
    await loadSnapshot(old, asFile(snapshot), undefined);
    const tables = ['output', 'nft', 'milestone', 'parameters'];
    const before = await Promise.all(tables.map((name) => rowsOf(old, name)));

    await migrate(old);
    expect(await Promise.all(tables.map((name) => rowsOf(old, name)))).toEqual(before);

    const nfts = recordedNfts()(INDEX);
    expect((await readNodeStatus(old, FOLLOWING))!.blocks).toBeUndefined();
    await saveFollowerState(old, {
      state: 'following',
      upstream: { index: 61, timestamp: 1_700_000_000, milestoneId: 'ab'.repeat(32) },
    });
    await saveBlocksStatus(old, 'feed', 1_700_000_000_000);
    expect((await readNodeStatus(old, FOLLOWING))!.blocks).toEqual({
      by: 'feed',
      newest: 1_700_000_000,
    });
    const list = () => readNftList(old, parseNftQuery(''));
    let steps = 0;
    do {
      expect(await list()).toMatchObject({ ok: false, why: 'unfilled' });
      steps++;
    } while (!(await fillNftLists(old, 50)));
    expect(steps).toBeGreaterThan(nfts.length / 50);
    const filled = await list();
    expect(filled?.ok && filled.items.map(({ outputId }) => `0x${outputId}`)).toEqual(
      plainList(nfts, INDEX, 'tst', '').response!.items,
    );
  });
});

it('a ledger of a version to come is refused', async () => {
  db.exec(`
    INSERT INTO head (
      one, schema, generation, genesis, start, ledger, treasury_milestone, treasury_amount,
      next_block, next_output, dropped, id_tables, forgotten)
    VALUES (1, 3, 'g', 0, 80, 81, 'aa', '900', 1, 1, 0, '[[0,80]]', 79)`);
  const row = await db.prepare(SELECT_HEAD).bind(null).first<Record<string, unknown>>();
  expect(() => headFromRow(row!)).toThrow(/has schema 3, this version reads 2/);
});
