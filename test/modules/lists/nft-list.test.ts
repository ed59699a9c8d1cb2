/**
 * Lists of NFTs by the plain implementation, as inx-indexer answered them. That the product answers
 * what was recorded, test/modules/lists/nft-list-route.test.ts tests; what was not, the simulator.
 */
import { expect, it } from 'vitest';
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
