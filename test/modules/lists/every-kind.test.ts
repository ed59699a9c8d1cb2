/**
 * Lists of every kind of output: filled step by step, kept by milestones, and never
 * served before it is whole.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import type { SqliteDatabase } from '../../../cli/lib/wrangler/sqlite-database.ts';
import { LedgerMoved } from '../../../src/ledger/core/fence.ts';
import { readHead } from '../../../src/ledger/core/head.ts';
import { loadSnapshot } from '../../../src/ledger/import/load-snapshot.ts';
import { fillIndex } from '../../../src/ledger/output-list/fill-index.ts';
import { ALL_KINDS } from '../../../src/ledger/output-list/indexed-kinds.ts';
import { START } from '../../../src/modules/lists/output-query.ts';
import { readOutputList } from '../../../src/modules/lists/read-list.ts';
import {
  asFile,
  disturbed,
  followTo,
  type Rig,
  startLedger,
  startNew,
  storeNow,
  withTips,
} from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { deltaSnapshot, fullSnapshot } from '../../support/network/network-snapshot.ts';
import { recordedNetwork } from '../../support/network/recorded-network.ts';
import { COIN_AMOUNT } from '../../support/network/synthetic-network.ts';
import {
  EVERY_KIND,
  indexEveryKind,
  listedLedger,
  ONLY_NFTS,
} from '../../support/nft-list/listed-ledger.ts';
import { plainList } from '../../support/nft-list/plain-list.ts';
import { LAST_INDEX, recordedNfts, recordedOutputs } from '../../support/nft-list/recorded-nfts.ts';
import { alias, basic } from '../../support/payloads/outputs.ts';

const network = recordedNetwork('network-n');
const outputsAt = recordedOutputs('network-n');

/** All columns of all rows, in the order of lists. */
async function storedRows(db: SqliteDatabase): Promise<unknown[]> {
  return (await db.prepare('SELECT * FROM output_detail ORDER BY 1, 2, 3').all()).results;
}

/** The same of a ledger that was imported at that index, and indexed then. */
async function rowsAt(index: number): Promise<unknown[]> {
  const db = await listedLedger(index);
  await indexEveryKind(db);
  return storedRows(db);
}

const ofNfts = (rows: unknown[]) => rows.filter((row) => (row as { kind: number }).kind === 6);

function listAll(db: SqliteDatabase) {
  const query = { kinds: ALL_KINDS, filters: {}, from: START, pageSize: 1000, prefixes: [] };
  return readOutputList(db, query);
}

async function listedIds(db: SqliteDatabase): Promise<string[]> {
  const list = await listAll(db);
  if (!list?.ok) throw new Error('no list');
  return list.page!.items.map(({ outputId }) => outputId);
}

function expectedIds(index: number): string[] {
  const { items } = plainList(outputsAt(index), index, 'tst', '', 'all').response!;
  return items.map((item) => item.slice(2));
}

describe('of network-n', () => {
  let db: SqliteDatabase;
  let rig: Rig;
  beforeAll(async () => {
    db = await openMemory();
    rig = await startLedger(db, network, 30);
  });

  it('is filled in steps, between which milestones are applied, and is no list before', async () => {
    // some outputs come and go behind the place that is reached, some before it
    let steps = 0;
    let index = 30;
    while (!(await fillIndex(db, EVERY_KIND, 40))) {
      steps++;
      const list = await listAll(db);
      expect(list).toMatchObject({ ok: false, why: 'filling' });
      if (steps % 2 === 0) await followTo(rig, ++index);
    }
    expect(steps).toBeGreaterThan(5);
    expect(index).toBeGreaterThan(32);
    expect(await storedRows(db)).toEqual(await rowsAt(index));
    expect(await listedIds(db)).toEqual(expectedIds(index));
  });

  it('is kept by milestones, their receipts too', async () => {
    for (const index of [60, 80, LAST_INDEX]) {
      await followTo(rig, index);
      expect(await storedRows(db)).toEqual(await rowsAt(index));
      expect(await listedIds(db)).toEqual(expectedIds(index));
    }
    expect(await fillIndex(db, EVERY_KIND)).toBe(true);
  });

  it('stays where only NFTs are wanted by then; an import brings those alone', async () => {
    expect(await fillIndex(db, ONLY_NFTS)).toBe(true);
    expect(await storedRows(db)).toEqual(await rowsAt(LAST_INDEX));
    await startLedger(db, network, 30);
    expect(await storedRows(db)).toEqual(ofNfts(await rowsAt(30)));
    expect((await readHead(db))?.indexed).toBe('');
    expect(await fillIndex(db, ONLY_NFTS)).toBe(true);
    expect(await listAll(db)).toMatchObject({ ok: false, why: 'not indexed' });
  });

  it('has what a delta leaves of the NFTs of a full snapshot', async () => {
    const other = await openMemory();
    const [full, delta] = [
      fullSnapshot(network, { target: 40 }),
      deltaSnapshot(network, 40, LAST_INDEX),
    ];
    await loadSnapshot(other, asFile(full), asFile(delta));
    const idsAt = (index: number) => recordedNfts()(index).map(({ outputId }) => outputId);
    // else nothing was removed on the way
    expect(new Set(idsAt(40)).isSubsetOf(new Set(idsAt(LAST_INDEX)))).toBe(false);
    expect(await storedRows(other)).toEqual(ofNfts(await rowsAt(LAST_INDEX)));
  });

  it('is filled to its end, once that was begun', async () => {
    const other = await listedLedger(30);
    await fillIndex(other, EVERY_KIND, 40);
    while (!(await fillIndex(other, ONLY_NFTS, 40)));
    expect(await storedRows(other)).toEqual(await rowsAt(30));
  });

  it('stops a step whose ledger moved on, and changes nothing', async () => {
    const other = await listedLedger(30);
    await fillIndex(other, EVERY_KIND, 40);
    const before = await storedRows(other);
    let batches = 0;
    const meanwhile = disturbed(other, async () => {
      if (++batches === 2) other.exec('UPDATE head SET dropped = dropped + 1, sum = sum + 1');
    });
    await expect(fillIndex(meanwhile, EVERY_KIND, 40)).rejects.toThrow(LedgerMoved);
    expect(await storedRows(other)).toEqual(before);
  });

  it('is not filled from a damaged output', async () => {
    const other = await listedLedger(30);
    other.exec('UPDATE output SET created_time = created_time + 1 WHERE created > 20');
    await expect(indexEveryKind(other)).rejects.toThrow(/damaged/);
    await expect(listAll(other)).rejects.toThrow(/damaged/);
  });
});

it('has the outputs of blocks that were stored before anything kept it', async () => {
  const db = await openMemory();
  const { network: net, root, rig } = await startNew(db, 'stored before');
  const half = COIN_AMOUNT / 2n;
  const spend = (i: number) => {
    const [own, other] = [net.account(i), net.account(i + 1)];
    const outputs = [basic(other, { amount: half }), alias(own, own, { amount: half })];
    return net.transaction(net.genesisSpends.slice(i, i + 1), outputs);
  };
  const before = net.attachTransaction(spend(0), [root]);
  expect(await storeNow(withTips(rig, before), db)).toBeGreaterThan(0);
  await indexEveryKind(db);
  const after = net.attachTransaction(spend(1), [before]);
  expect(await storeNow(withTips(rig, after), db)).toBe(1);
  net.milestone({ parents: [after] });
  await followTo(rig, 2);
  const rows = await storedRows(db);
  expect(rows).toHaveLength(net.genesisCoins.length - 2 + 4);
  expect(await listedIds(db)).toHaveLength(rows.length);
});
