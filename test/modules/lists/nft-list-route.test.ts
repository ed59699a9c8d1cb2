/**
 * GET /api/indexer/v1/outputs/nft, from a database with the ledger of network-n at its end.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import type { SqliteDatabase } from '../../../cli/lib/wrangler/sqlite-database.ts';
import { toBech32 } from '../../../src/stardust/bech32.ts';
import {
  checkAlways,
  checkLedgerRead,
  expectError,
  type Fetch,
} from '../../support/http/contract.ts';
import { fetchFrom } from '../../support/http/stub-node.ts';
import { nodeOver, selectingLast } from '../../support/nft-list/list-node.ts';
import { listedLedger } from '../../support/nft-list/listed-ledger.ts';
import { LAST_INDEX, oddLists, recordedLists } from '../../support/nft-list/recorded-nfts.ts';

const LIST = '/api/indexer/v1/outputs/nft';
/** Every so many of the recorded answers: a prime, so that all kinds are among them. */
const STEP = process.env.SLOW ? 1 : 5;

let db: SqliteDatabase;
let fetch: Fetch;

beforeAll(async () => {
  db = await listedLedger(LAST_INDEX);
  fetch = fetchFrom({ node: nodeOver(db) });
});

it('all that was recorded: status, and the body of each 200 to the byte', async () => {
  let found = 0;
  const recorded = recordedLists().filter((_, i) => i % STEP === 0);
  for (const { path, status, response } of [...recorded, ...oddLists()]) {
    const answer = await fetch(path);
    expect(answer.status, path).toBe(status === 200 ? 200 : 400);
    checkAlways(answer);
    if (status !== 200) continue;
    found++;
    expect(await answer.text(), path).toBe(JSON.stringify(response));
    expect(answer.headers.get('x-ledger-index')).toBe(String(LAST_INDEX));
  }
  expect(found).toBeGreaterThan(1_600 / STEP);
});

it('is cached as lookups are, with a tag for the whole body', async () => {
  const etag = await checkLedgerRead(fetch, `${LIST}?pageSize=3`, LAST_INDEX);
  const other = await fetch(`${LIST}?pageSize=2`, { headers: { 'if-none-match': etag } });
  expect(other.status).toBe(200);
});

describe('order of decisions', () => {
  it('a bad query before a missing ledger, that before a minimum, that before the rest', async () => {
    const empty = fetchFrom();
    await expectError(empty, `${LIST}?hasTimelock=yes`, 400);
    await expectError(empty, LIST, 500);
    const foreign = `${LIST}?address=${toBech32('other', { type: 0, id: new Uint8Array(32) })}`;
    const init = { headers: { 'x-min-ledger-index': String(LAST_INDEX + 1) } };
    await expectError(fetch, foreign, 404, init);
    await expectError(fetch, foreign, 400);
  });

  it('too many are a page that ends early, or a 500 that says so where there are no pages', async () => {
    const endOfBudget = { created_time: 16, output: 'ab'.repeat(34), beyond: 1 };
    const few = fetchFrom({ node: nodeOver(selectingLast(db, endOfBudget)) });
    const page = await (await few(LIST)).json();
    expect(page).toMatchObject({ items: [], cursor: `00000010${'ab'.repeat(34)}.1000` });
    const answer = await few(`${LIST}?cursor=${'0'.repeat(76)}.0`);
    expect(answer.status).toBe(500);
    expect(answer.headers.get('x-error-detail')).toContain('too many outputs');
    expect(answer.headers.get('x-ledger-index')).toBe(String(LAST_INDEX));
  });
});

it('has one spelling, and is read only', async () => {
  for (const path of [
    `${LIST}/`,
    `${LIST}//`,
    '/api/indexer/v1/outputs',
    '/api/indexer/v1/outputs/NFT',
  ])
    expect((await fetch(path)).status, path).toBe(path === `${LIST}//` ? 400 : 404);
  await expectError(fetch, LIST, 405, { method: 'POST' });
  const head = await fetch(LIST, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
});
