/**
 * Lists of NFTs by the plain implementation: as inx-indexer answered them; and by the product, as
 * the plain implementation does where nothing was recorded. That the product answers what was
 * recorded, test/modules/lists/nft-list-route.test.ts tests.
 */
import { expect, it } from 'vitest';
import { fetchFrom } from '../../support/http/stub-node.ts';
import { askRandomLists } from '../../support/nft-list/ask-random-lists.ts';
import { nodeOver } from '../../support/nft-list/list-node.ts';
import { listedLedger } from '../../support/nft-list/listed-ledger.ts';
import { plainList } from '../../support/nft-list/plain-list.ts';
import {
  LAST_INDEX,
  oddLists,
  recordedLists,
  recordedNfts,
} from '../../support/nft-list/recorded-nfts.ts';

it('all that was recorded', () => {
  const nfts = recordedNfts()(LAST_INDEX);
  const lists = [...recordedLists(), ...oddLists()];
  expect(lists.length).toBe(1119 + 1000);
  for (const { path, status, response } of lists) {
    const plain = plainList(nfts, LAST_INDEX, 'tst', path.split('?')[1] ?? '');
    expect(plain, path).toEqual(status === 200 ? { status, response } : { status: 400 });
  }
});

it.each(process.env.SLOW ? [0, 1, 9, 30, 61, 90, 124] : [1, 61, 124])(
  '200 random queries at %i',
  async (index) => {
    const fetch = fetchFrom({ node: nodeOver(await listedLedger(index)) });
    await askRandomLists(fetch, { index, queries: 200 });
  },
);
