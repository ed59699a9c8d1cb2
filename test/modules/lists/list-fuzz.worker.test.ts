/**
 * Random queries of lists from a ledger in D1: never more rows than the budget. Many more of them
 * are answered by SQLite in ./nft-list.test.ts.
 */
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import '../../support/vectors-in-workerd.ts';
import { ROW_BUDGET } from '../../../src/modules/lists/list-statements.ts';
import { fetchFrom } from '../../support/http/stub-node.ts';
import { countedDatabase } from '../../support/ledger/counted-database.ts';
import { startLedger } from '../../support/ledger/ledger-harness.ts';
import { recordedNetwork } from '../../support/network/recorded-network.ts';
import { askRandomLists } from '../../support/nft-list/ask-random-lists.ts';
import { nodeOver } from '../../support/nft-list/list-node.ts';

it('200 queries', async () => {
  const index = 100;
  await startLedger(env.LEDGER, recordedNetwork('network-n'), index);
  const { db, counts } = countedDatabase(env.LEDGER);
  const fetch = fetchFrom({ node: nodeOver(db) });
  // lines of log are sent to vitest's process, one by one
  vi.spyOn(console, 'log').mockImplementation(() => {});
  let most = 0;
  await askRandomLists(fetch, { index, queries: 200 }, () => {
    most = Math.max(most, counts.rowsRead);
    counts.rowsRead = 0;
  });
  vi.restoreAllMocks();
  expect(most).toBeLessThanOrEqual(ROW_BUDGET + 1010);
});
