/**
 * Lists of NFTs: as inx-indexer answered them, and as the plain implementation does where nothing
 * was recorded.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import type { SqliteDatabase } from '../../../scripts/lib/wrangler/sqlite-database.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { Random } from '../../support/network/random.ts';
import { plainList } from '../../support/nft-list/plain-list.ts';
import { fillDetails, productList } from '../../support/nft-list/product-list.ts';
import { randomQuery, vocabularyOf } from '../../support/nft-list/random-queries.ts';
import {
  LAST_INDEX,
  oddLists,
  recordedLists,
  recordedNfts,
} from '../../support/nft-list/recorded-nfts.ts';

const PREFIX = 'tst';

/** Of random queries, recorded too. */
const ODD_LISTS = 1000;

let db: SqliteDatabase;
const nftsAt = recordedNfts();
const lists = [...recordedLists(), ...oddLists()];

beforeAll(async () => {
  db = await openMemory();
});

describe('at the end of network-n', () => {
  const nfts = nftsAt(LAST_INDEX);
  beforeAll(() => fillDetails(db, nfts));

  it('all that was recorded, by the plain implementation', () => {
    expect(lists.length).toBe(1119 + ODD_LISTS);
    for (const { path, status, response } of lists) {
      const plain = plainList(nfts, LAST_INDEX, PREFIX, searchOf(path));
      expect(plain, path).toEqual(status === 200 ? { status, response } : { status: 400 });
    }
  });

  it('all that was recorded, by SQL', async () => {
    for (const { path, status, response } of lists) {
      const { rowsRead: _, ...answer } = await productList(db, LAST_INDEX, PREFIX, searchOf(path));
      expect(answer, path).toEqual(status === 200 ? { status, response } : { status: 400 });
    }
  });
});

describe('in between', () => {
  it.each([0, 1, 9, 30, 61, 90, 124])('at %i as the plain implementation', async (index) => {
    const nfts = nftsAt(index);
    await fillDetails(db, nfts);
    const random = new Random(`lists at ${index}`);
    const words = vocabularyOf(nftsAt(LAST_INDEX), PREFIX);
    const statuses = new Map<number, number>();
    for (let i = 0; i < 600; i++) {
      const query = randomQuery(random, words, i % 2 === 0 ? 0 : 0.3);
      const plain = plainList(nfts, index, PREFIX, query);
      const { rowsRead: _, ...answer } = await productList(db, index, PREFIX, query);
      expect(answer, query).toEqual(plain);
      statuses.set(plain.status, (statuses.get(plain.status) ?? 0) + 1);
    }
    expect(statuses.get(200)).toBeGreaterThan(300);
    expect(statuses.get(400)).toBeGreaterThan(30);
  });

  it('walks every page and finds what the list says', async () => {
    await fillDetails(db, nftsAt(60));
    const whole = plainList(nftsAt(60), 60, PREFIX, '').response!.items;
    const found: string[] = [];
    for (let query: string | undefined = 'pageSize=7'; query !== undefined; ) {
      const { response } = await productList(db, 60, PREFIX, query);
      const { items, cursor } = response as { items: string[]; cursor?: string };
      found.push(...items);
      query = cursor && `cursor=${cursor}`;
    }
    expect(found).toEqual(whole);
    expect(found.length).toBeGreaterThan(100);
  });
});

function searchOf(path: string): string {
  return path.split('?')[1] ?? '';
}
