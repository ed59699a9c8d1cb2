/**
 * Many NFTs that one milestone burned (src/ledger/core/nft-rows.ts): whoever made them makes no
 * reader of several search a list of a megabyte for each.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import type { SqliteDatabase } from '../../../cli/lib/wrangler/sqlite-database.ts';
import { LedgerDamaged } from '../../../src/ledger/core/checksum.ts';
import { SELECT_NFTS } from '../../../src/ledger/core/nft-rows.ts';
import { readNftOutputs } from '../../../src/ledger/read/nft-outputs.ts';
import { openIndexLedger } from '../../../src/nft-index/d1-ledger.ts';
import { cpuTime } from '../../support/cpu-time.ts';
import { startLedger } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { recordedNetwork } from '../../support/network/recorded-network.ts';

/** As many as one list takes. */
const COUNT = 14_900;

const ids = Array.from({ length: COUNT }, (_, i) => (i + 2 ** 40).toString(16).padStart(64, 'f'));

let db: SqliteDatabase;
beforeAll(async () => {
  db = await openMemory();
  await startLedger(db, recordedNetwork('network-a'), 20);
  const list = JSON.stringify(ids);
  await db.prepare('INSERT INTO nft_change VALUES (5, 0, ?1)').bind(list).run();
  const insert = 'INSERT INTO nft SELECT value, NULL, 5 FROM json_each(?1)';
  await db.prepare(insert).bind(list).run();
});

describe('take little time', () => {
  it('1,000 in a step of the scrub: 0.02 s, once 4 s', async () => {
    let found = 0;
    const read = async () => {
      const statement = db.prepare(SELECT_NFTS).bind(ids[COUNT - 1001], 1000);
      found = (await statement.all<{ nft_burned: number }>()).results.filter(
        ({ nft_burned }) => nft_burned === 1,
      ).length;
    };
    expect(await cpuTime(read)).toBeLessThan(400);
    expect(found).toBe(1000);
  });

  it('100 for the index in KV', async () => {
    const read = () => openIndexLedger(db).readNfts(ids[COUNT - 101]!, 100);
    expect(await cpuTime(read)).toBeLessThan(150);
    expect((await read())?.rows).toEqual(ids.slice(-100).map((nft) => ({ nft, output: null })));
  });

  it('100 of a request: 0.02 s, once 0.4 s', async () => {
    const read = () => readNftOutputs(db, ids.slice(-100));
    expect(await cpuTime(read)).toBeLessThan(150);
    expect((await read())?.outputs).toEqual(Array(100).fill(undefined));
  });
});

it('one that is on the list of another milestone is damaged', async () => {
  await db.prepare('UPDATE nft SET changed = 6 WHERE id = ?1').bind(ids[7]).run();
  await expect(readNftOutputs(db, [ids[7]!])).rejects.toThrow(LedgerDamaged);
  await expect(openIndexLedger(db).readNfts(ids[6]!, 1)).rejects.toThrow(LedgerDamaged);
});
