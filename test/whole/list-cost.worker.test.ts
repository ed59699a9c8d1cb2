/**
 * What lists cost, as D1 counts rows: a page by what there is an index for reads rows of its own
 * order, any other list stays within the budget, and an NFT that changes writes few.
 */
import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseQueryString } from '../../src/http/request.ts';
import type { Kind } from '../../src/ledger/output-list/indexed-kinds.ts';
import { insertListRows, type ListRow } from '../../src/ledger/output-list/list-rows.ts';
import { readNftGallery } from '../../src/modules/galleries/nft-gallery.ts';
import {
  MAX_COLLECTION,
  readCollectionOwners,
} from '../../src/modules/galleries/routes/collection-owners.ts';
import { MAX_ITEMS, ROW_BUDGET, selectPage } from '../../src/modules/lists/list-statements.ts';
import { readOutputOfChain } from '../../src/modules/lists/read-list.ts';
import {
  formatCursor,
  parseGalleryQuery,
  parseOutputQuery,
} from '../../src/modules/lists/routes/parse-query.ts';
import { toBech32 } from '../../src/stardust/bech32.ts';
import { AddressType } from '../../src/stardust/wire/address.ts';
import { countedDatabase } from '../support/ledger/counted-database.ts';

const db = env.LEDGER;

/** More than a list may look at. */
const NFTS = ROW_BUDGET / 2 + 20_000;

/**
 * NFT i was created in second i / 10. Half of all share each of the addresses 1 to 6, and none has
 * a timelock.
 */
const FILL = `
  WITH RECURSIVE n(i) AS (SELECT CAST(?1 AS INTEGER) UNION ALL SELECT i + 1 FROM n WHERE i < ?2 - 1)
  INSERT INTO output_detail (created_time, output, kind, address, issuer, sender, tag,
    deposit_return, expiration_return, expiration, native_tokens)
  SELECT 1000 + i / 10, unhex(printf('%068x', i * 7919 % 1000003)), 6,
    unhex('00' || printf('%064x', i % 2)), unhex('00' || printf('%064x', 10 + i % 2)),
    unhex('00' || printf('%064x', 20 + i % 2)), unhex(printf('%02x', i % 2)),
    CASE WHEN i % 4 < 2 THEN unhex('00' || printf('%064x', 30)) END,
    CASE WHEN i % 8 < 4 THEN unhex('00' || printf('%064x', 40)) END,
    CASE WHEN i % 8 < 4 THEN 5000 END, 0
  FROM n`;

beforeAll(async () => {
  for (let from = 0; from < NFTS; from += 20_000)
    await db
      .prepare(FILL)
      .bind(from, Math.min(NFTS, from + 20_000))
      .run();
});

function address(number: number): string {
  const id = new Uint8Array(32);
  id[31] = number;
  return toBech32('tst', { type: AddressType.Ed25519, id });
}

async function list(search: string, kind: Kind | 'all' = 'nft') {
  const query = parseOutputQuery(search, kind);
  const { statements, read } = selectPage(db, query);
  const walks = await db.batch<Record<string, unknown>>([...statements]);
  const rowsRead = walks.reduce((sum, { meta }) => sum + meta.rows_read, 0);
  const page = read(walks);
  return { page, rowsRead, next: page?.next && formatCursor(page.next, query.pageSize) };
}

describe('a page of 100 reads rows of that order', () => {
  it.each([
    ['of all', ''],
    ['by address', `address=${address(0)}`],
    ['by issuer', `issuer=${address(10)}`],
    ['by sender', `sender=${address(20)}`],
    ['by sender and tag', `sender=${address(20)}&tag=0x00`],
    ['by the return address of the deposit', `storageDepositReturnAddress=${address(30)}`],
    ['by the return address of the expiration', `expirationReturnAddress=${address(40)}`],
    ['by time of creation', 'createdAfter=3000&createdBefore=9000'],
    ['by address and time', `address=${address(1)}&createdAfter=3000`],
    ['by address, most of them fitting', `address=${address(0)}&hasTimelock=false`],
  ])('%s, the first, and those behind a cursor', async (_, filter) => {
    const first = await list(`${filter}&pageSize=100`);
    expect(first.page?.items).toHaveLength(100);
    expect(first.rowsRead).toBeLessThanOrEqual(110);
    const far = `${(5000).toString(16).padStart(8, '0')}${'0'.repeat(68)}.100`;
    for (const cursor of [first.next!, far]) {
      const later = await list(`${filter}&cursor=${cursor}`);
      expect(later.page?.items).toHaveLength(100);
      expect(later.rowsRead).toBeLessThanOrEqual(110);
    }
  });

  it('by whoever may unlock: three walks', async () => {
    const { page, rowsRead } = await list(`unlockableByAddress=${address(0)}&pageSize=100`);
    expect(page?.items).toHaveLength(100);
    expect(rowsRead).toBeLessThanOrEqual(330);
  });

  it('the last page, and one of nobody', async () => {
    expect((await list(`address=${address(99)}`)).rowsRead).toBeLessThanOrEqual(2);
    const end = await list(`address=${address(0)}&createdAfter=${1000 + NFTS / 10 - 5}`);
    expect([end.page?.items.length, end.next]).toEqual([20, undefined]);
    expect(end.rowsRead).toBeLessThanOrEqual(30);
  });
});

it.each([
  ['short', 2],
  ['long', 3],
])('a gallery of 100 reads the index and each output, which is %s', async (kind, rowsOfOne) => {
  // all of them have one rest
  const rest = kind === 'short' ? 'NULL' : '1';
  await db.exec("INSERT OR REPLACE INTO output_rest (key, bytes) VALUES (1, '')");
  await db.exec(
    `INSERT OR REPLACE INTO output (id, bytes, rest, block, created, created_time, sum) SELECT lower(hex(output)), '', ${rest}, '', 0, 0, 0 FROM output_detail`,
  );
  const filters = [`address=${address(0)}`, `issuer=${address(10)}`];
  const far = `${(5000).toString(16).padStart(8, '0')}${'0'.repeat(68)}.100`;
  for (const search of filters.flatMap((filter) => [filter, `${filter}&cursor=${far}`])) {
    const { db: counted, counts } = countedDatabase(db);
    // there is no head here, nor parameters, which would be rows of both, nor a milestone
    await readNftGallery(counted, parseGalleryQuery(parseQueryString(search), 100));
    // one more than the page holds
    expect(counts.rowsRead).toBeGreaterThanOrEqual(rowsOfOne * 101);
    expect(counts.rowsRead).toBeLessThan(rowsOfOne * 101 + 5);
    const listed = await list(`${search}&pageSize=100`);
    expect(counts.rowsRead + 3).toBeLessThanOrEqual(3 * (listed.rowsRead + 2));
  }
});

it('owners of a collection: some rows for each of its NFTs, up to the most', async () => {
  const key = (number: number) => `00${number.toString(16).padStart(64, '0')}`;
  const query = { pageSize: 1000, from: '' };
  const { db: counted, counts } = countedDatabase(db);
  await readCollectionOwners(counted, { ...query, issuer: key(99) });
  expect(counts.rowsRead).toBeLessThan(10);
  const rowsOfEach = async (issuer: number) => {
    counts.rowsRead = 0;
    await readCollectionOwners(counted, { ...query, issuer: key(issuer) });
    return counts.rowsRead / MAX_COLLECTION;
  };
  // half of all NFTs, which are more than it counts; half of which are of one owner
  expect(await rowsOfEach(10)).toBeGreaterThan(1);
  expect(await rowsOfEach(10)).toBeLessThan(4.02);
  // each of another one
  await db.exec(
    `
    INSERT INTO output_detail (created_time, output, kind, address, issuer, native_tokens)
    SELECT 0, output, 6, unhex('00' || substr(hex(output), 1, 64)), unhex('${key(98)}'), 0
    FROM output_detail LIMIT ${MAX_COLLECTION + 1}`.replaceAll('\n', ' '),
  );
  expect(await rowsOfEach(98)).toBeGreaterThan(1);
  expect(await rowsOfEach(98)).toBeLessThan(4.02);
  await db.exec('DELETE FROM output_detail WHERE created_time = 0');
});

describe('what no index decides', () => {
  it.each([
    ['of all', 'hasTimelock=true'],
    ['by tag alone', 'tag=0x77'],
    ['for whoever may unlock', `unlockableByAddress=${address(0)}&hasTimelock=true`],
  ])('%s has a page for each budget', async (_, search) => {
    const { page, rowsRead, next } = await list(search);
    expect(page?.items).toEqual([]);
    expect(rowsRead).toBeGreaterThan(ROW_BUDGET / 4);
    expect(rowsRead).toBeLessThanOrEqual(ROW_BUDGET + 10);
    const last = await list(`${search}&cursor=${next}`);
    expect(last.page).toEqual({ items: [], next: undefined });
    const unpaged = await list(`${search}&cursor=${'0'.repeat(76)}.0`);
    expect(unpaged.page).toBeUndefined();
  });

  it('is found, wherever it stands, by pages that lose nothing', async () => {
    // of the walks by which an address unlocks each ends elsewhere
    const search = `unlockableByAddress=${address(0)}&expiresBefore=6000&pageSize=1000`;
    const found: string[] = [];
    for (let cursor = ''; cursor !== undefined; ) {
      const { page, next } = await list(`${search}${cursor}`);
      found.push(...page!.items.map(({ outputId }) => outputId));
      if (next === undefined) break;
      cursor = `&cursor=${next}`;
    }
    const all = await db
      .prepare(
        `SELECT lower(hex(output)) AS id FROM output_detail
         WHERE expiration < 6000 AND address = unhex('00' || printf('%064x', 0))
         ORDER BY created_time, output`,
      )
      .all<{ id: string }>();
    expect(found).toEqual(all.results.map(({ id }) => id));
  });

  it('is answered where fewer rows are left to look at', async () => {
    for (const fewer of ['createdAfter=4000', `expirationReturnAddress=${address(40)}`]) {
      const { page, rowsRead } = await list(`hasTimelock=true&${fewer}`);
      expect(page).toEqual({ items: [], next: undefined });
      expect(rowsRead).toBeLessThanOrEqual(ROW_BUDGET);
    }
  });

  it('without pages is whole, or refused', async () => {
    const all = `cursor=${'0'.repeat(76)}.0`;
    const { page } = await list(`${all}&createdBefore=${1000 + MAX_ITEMS / 10}`);
    expect(page?.items).toHaveLength(MAX_ITEMS);
    const more = await list(`${all}&createdBefore=${1001 + MAX_ITEMS / 10}`);
    expect(more.page).toBeUndefined();
    expect(more.rowsRead).toBeLessThanOrEqual(MAX_ITEMS + 10);
  });
});

it('an NFT that has everything and changes writes 8 rows', async () => {
  const key = `00${'0'.repeat(64)}`;
  const id = 'f'.repeat(68);
  const detail: ListRow = [7, id, 6, key, null, key, key, '61', key, key, 9, 9, 1, null];
  const [inserted] = await db.batch(insertListRows(db, [detail]));
  const deleted = await db
    .prepare('DELETE FROM output_detail WHERE kind = 6 AND created_time = 7 AND output = unhex(?1)')
    .bind(id)
    .run();
  expect(inserted!.meta.rows_written + deleted.meta.rows_written).toBe(8);
  expect(deleted.meta.changes).toBe(1);
});

describe('other kinds', () => {
  /** Of each kind. Half of all share each address. */
  const OUTPUTS = 1000;
  const key = (number: number) => `00${number.toString(16).padStart(64, '0')}`;
  const idOf = (number: number, digits = 68) => number.toString(16).padStart(digits, '0');

  const rows = [3, 4, 5].flatMap((kind) =>
    Array.from({ length: OUTPUTS }, (_, i): ListRow => {
      const isAlias = kind === 4;
      return [
        ...[1000 + Math.floor(i / 10), idOf(kind * 100_000 + ((i * 7919) % 1009)), kind],
        ...[key(i % 2), isAlias ? key(50 + (i % 2)) : null, isAlias ? key(10 + (i % 2)) : null],
        ...[key(20 + (i % 2)), kind === 3 ? '61' : null, kind === 3 ? key(30) : null],
        ...[kind === 3 ? key(40) : null, kind === 3 ? 5000 : null, null, 0],
        kind === 3 ? null : idOf(kind * 100_000 + i, isAlias ? 64 : 76),
      ];
    }),
  );

  beforeAll(async () => {
    await db.batch(insertListRows(db, rows));
  });

  it.each<[Kind, string]>([
    ['basic', ''],
    ['basic', `address=${address(0)}`],
    ['basic', `sender=${address(20)}`],
    ['basic', `sender=${address(20)}&tag=0x61`],
    ['basic', `storageDepositReturnAddress=${address(30)}`],
    ['basic', `expirationReturnAddress=${address(40)}`],
    ['basic', 'createdAfter=1020&createdBefore=1090'],
    ['alias', ''],
    ['alias', `stateController=${address(0)}`],
    ['alias', `governor=${address(50)}`],
    ['alias', `issuer=${address(10)}`],
    ['alias', `sender=${address(20)}`],
    ['foundry', ''],
    ['foundry', 'createdAfter=1020'],
  ])('%s, %s: a page of 100 reads rows of that order', async (kind, filter) => {
    const first = await list(`${filter}&pageSize=100`, kind);
    expect(first.page?.items).toHaveLength(100);
    expect(first.rowsRead).toBeLessThanOrEqual(110);
    const later = await list(`${filter}&cursor=${first.next}`, kind);
    expect(later.page?.items).toHaveLength(100);
    expect(later.rowsRead).toBeLessThanOrEqual(110);
  });

  it('by whoever may unlock, of every kind: nine walks', async () => {
    const { page, rowsRead } = await list(`unlockableByAddress=${address(0)}&pageSize=100`, 'all');
    expect(page?.items).toHaveLength(100);
    expect(rowsRead).toBeLessThanOrEqual(9 * 110);
    const nobody = await list(`unlockableByAddress=${address(99)}`, 'all');
    expect(nobody.page?.items).toEqual([]);
    expect(nobody.rowsRead).toBeLessThanOrEqual(9);
  });

  it('an alias and a foundry by their IDs: a row, and that of the output', async () => {
    const ids = [idOf(400_007, 64), idOf(500_007, 76)] as const;
    const insert = `
      INSERT INTO output (id, bytes, chain, block, created, created_time, sum)
      SELECT lower(hex(output)), '', lower(hex(chain)), '', 0, 0, 0 FROM output_detail
      WHERE chain IN (unhex(?1), unhex(?2))`;
    await db
      .prepare(insert)
      .bind(...ids)
      .run();
    const { db: counted, counts } = countedDatabase(db);
    await readOutputOfChain(counted, 'alias', ids[0]);
    await readOutputOfChain(counted, 'foundry', ids[1]);
    // and one to see that there is no head here
    expect(counts.rowsRead).toBe(2 * 3);
  });

  it('one that has everything and goes writes 9 rows', async () => {
    const cells = [7, 'f'.repeat(68), 3, ...[1, 2, 3, 4].map(key), '61', key(5), key(6), 9, 9, 1];
    const row = [...cells, idOf(1, 64)];
    const [inserted] = await db.batch(insertListRows(db, [row]));
    expect(inserted!.meta.rows_written).toBe(9);
  });
});
