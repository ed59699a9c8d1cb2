/**
 * The table of lists in D1: filled in steps after an import, kept by milestones, filled anew where
 * a version was at work that does not keep it. What it costs is counted by D1.
 */
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { parseNftQuery } from '../../../src/http/nft-query.ts';
import type { Database } from '../../../src/ledger/database.ts';
import { fillNftLists } from '../../../src/ledger/nft-list/fill-lists.ts';
import { insertDetails, nftDetail } from '../../../src/ledger/nft-list/nft-detail.ts';
import { readNftList } from '../../../src/ledger/nft-list/read-list.ts';
import '../../support/vectors-in-workerd.ts';
import {
  followTo,
  ledgerIndex,
  startLedger,
  takeNext,
} from '../../support/ledger/ledger-harness.ts';
import { recordedNetwork } from '../../support/network/recorded-network.ts';
import { LAST_INDEX, recordedNfts } from '../../support/nft-list/recorded-nfts.ts';

const db = env.LEDGER;
const network = recordedNetwork('network-n');
const nftsAt = recordedNfts();

const whole = parseNftQuery('');

/** All columns of all rows, in the order of lists. */
function storedDetails(): Promise<unknown[]> {
  return db.prepare('SELECT * FROM nft_detail ORDER BY 1, 2').raw();
}

function expectedDetails(index: number): unknown[] {
  return nftsAt(index)
    .map(({ output, outputId, createdTime }) => [...nftDetail(output, outputId, createdTime)])
    .sort(([a, x], [b, y]) => Number(a) - Number(b) || (String(x) < String(y) ? -1 : 1));
}

async function whyNot(): Promise<string | undefined> {
  const list = await readNftList(db, whole);
  return list?.ok ? undefined : list?.why;
}

describe('the table of lists', () => {
  it('is filled by passes, and kept by every milestone', async () => {
    const rig = await startLedger(db, network, 54);
    for (let index = 60; index <= LAST_INDEX; index += 13) {
      await followTo(rig, index);
      expect(await whyNot()).toBeUndefined();
      expect(await storedDetails()).toEqual(expectedDetails(index));
    }
  });

  it('is filled in steps while milestones are applied, and not read before', async () => {
    const rig = await startLedger(db, network, 40);
    expect(await whyNot()).toBe('unfilled');
    let steps = 0;
    for (; !(await fillNftLists(db, 9)); steps++) {
      expect(await whyNot()).toBe('unfilled');
      if (steps % 4 === 0) {
        // a pass would fill the rest
        await takeNext(rig, db);
      }
    }
    expect(steps).toBeGreaterThan(10);
    const ledger = await ledgerIndex(db);
    expect(ledger).toBeGreaterThan(43);
    expect(await storedDetails()).toEqual(expectedDetails(ledger));
    expect(await whyNot()).toBeUndefined();
  });

  it('is filled anew where a milestone was applied without it', async () => {
    await startLedger(db, network, 50);
    while (!(await fillNftLists(db, 100)));
    // as version 0.2 leaves it: the ledger is one further, the table is not
    await db.prepare('UPDATE head SET listed = listed - 1').run();
    const [any] = expectedDetails(20) as Parameters<typeof insertDetails>[1];
    await db.batch(insertDetails(db, [any!]));
    expect(await whyNot()).toBe('unfilled');
    while (!(await fillNftLists(db, 100)));
    expect(await whyNot()).toBeUndefined();
    expect(await storedDetails()).toEqual(expectedDetails(50));
  });

  it('once filled is looked at for one row a pass', async () => {
    let rowsRead = 0;
    const counted: Database = {
      prepare: (sql) => db.prepare(sql),
      async batch<T>(statements: D1PreparedStatement[]) {
        const results = await db.batch<T>(statements);
        for (const { meta } of results) rowsRead += meta.rows_read;
        return results;
      },
    };
    expect(await fillNftLists(counted, 2000)).toBe(true);
    expect(rowsRead).toBeLessThan(4);
  });
});
