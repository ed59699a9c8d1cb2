/** GET /api/edge/v1/collections/:issuer/owners, from a database with the ledger of network-n. */
import { describe, expect, it } from 'vitest';
import { toBech32 } from '../../../src/stardust/bech32.ts';
import { ownerAt } from '../../../src/stardust/output.ts';
import { checkLedgerRead, expectError, type Fetch } from '../../support/http/contract.ts';
import { fetchFrom } from '../../support/http/stub-node.ts';
import { milestoneAt } from '../../support/network/network-model.ts';
import { recordedNetwork } from '../../support/network/recorded-network.ts';
import { nodeOver, selectingLast } from '../../support/nft-list/list-node.ts';
import { listedLedger } from '../../support/nft-list/listed-ledger.ts';
import { recordedNfts } from '../../support/nft-list/recorded-nfts.ts';

interface Page {
  ledgerIndex: number;
  nftCount: number;
  ownerCount: number;
  pageSize: number;
  owners: { address: string; nftCount: number }[];
  cursor?: string;
}

const INDEX = 110;

const network = recordedNetwork('network-n');
const nftsAt = recordedNfts();
const fetch = fetchFrom({ node: nodeOver(await listedLedger(INDEX)) });
const pathOf = (issuer: string) => `/api/edge/v1/collections/${issuer}/owners`;
const stranger = (prefix: string) =>
  toBech32(prefix, { type: 0, id: new Uint8Array(32).fill(0x5a) });

/** By issuer and owner: how many NFTs. */
function countOwners(index: number): Map<string, Map<string, number>> {
  const { timestamp } = milestoneAt(network, index)!;
  const collections = new Map<string, Map<string, number>>();
  for (const { output } of nftsAt(index)) {
    const issuer = output.immutableFeatures.find(({ type }) => type === 1);
    if (issuer?.type !== 1) continue;
    const name = toBech32('tst', issuer.address);
    const owners = collections.get(name) ?? new Map<string, number>();
    const owner = toBech32('tst', ownerAt(output, timestamp).address);
    collections.set(name, owners.set(owner, (owners.get(owner) ?? 0) + 1));
  }
  return collections;
}

const collections = countOwners(INDEX);

/** All pages, each of which is asked for by the cursor of the one before. */
async function readPages(ask: Fetch, issuer: string, pageSize: number): Promise<Page[]> {
  const pages: Page[] = [];
  for (let query = `?pageSize=${pageSize}`; ; ) {
    const answer = await ask(pathOf(issuer) + query);
    expect(answer.status).toBe(200);
    const page = (await answer.json()) as Page;
    pages.push(page);
    if (page.cursor === undefined) return pages;
    expect(page.owners).toHaveLength(pageSize);
    query = `?pageSize=7&cursor=${page.cursor}`;
  }
}

it.each([1, 3, 1000])('each collection whole, in pages of %i', async (pageSize) => {
  for (const [issuer, owners] of collections) {
    const pages = await readPages(fetch, issuer, pageSize);
    expect(
      new Map(pages.flatMap((page) => page.owners.map((each) => [each.address, each.nftCount]))),
    ).toEqual(owners);
    expect(pages.flatMap((page) => page.owners)).toHaveLength(owners.size);
    const nftCount = [...owners.values()].reduce((sum, each) => sum + each, 0);
    for (const page of pages)
      expect(page).toMatchObject({
        ledgerIndex: INDEX,
        pageSize,
        nftCount,
        ownerCount: owners.size,
      });
  }
  const sizes = [...collections.values()].map(({ size }) => size);
  expect([collections.size > 5, Math.max(...sizes) > 3]).toEqual([true, true]);
});

it('an NFT that expired belongs to its return address, though nothing moved it', async () => {
  const { timestamp } = milestoneAt(network, INDEX)!;
  const expired = nftsAt(INDEX).filter(({ output }) =>
    output.unlockConditions.some((each) => each.type === 3 && each.unixTime <= timestamp),
  );
  expect(
    expired.some(({ output }) => output.immutableFeatures.some(({ type }) => type === 1)),
  ).toBe(true);
});

describe('the answer', () => {
  const [issuer] = [...collections.keys()] as [string];

  it('may be kept for seconds, in any case of the address', async () => {
    await checkLedgerRead(fetch, pathOf(issuer), INDEX);
    const upper = await fetch(pathOf(issuer.toUpperCase()));
    expect(await upper.text()).toBe(await (await fetch(pathOf(issuer))).text());
  });

  it('of an issuer without NFTs has none', async () => {
    const answer = await fetch(pathOf(stranger('tst')));
    expect(await answer.json()).toEqual({
      ledgerIndex: INDEX,
      nftCount: 0,
      ownerCount: 0,
      pageSize: 1000,
      owners: [],
    });
  });

  it('has at most 1000 owners, and none after the last one', async () => {
    for (const size of ['1001', '0', '', 'x'])
      expect(await (await fetch(`${pathOf(issuer)}?pageSize=${size}`)).json()).toMatchObject({
        pageSize: 1000,
      });
    const end = await fetch(`${pathOf(issuer)}?cursor=${'F'.repeat(66)}.5`);
    const { owners, ownerCount } = (await end.json()) as Page;
    expect([owners, ownerCount]).toEqual([[], collections.get(issuer)!.size]);
  });

  it.each([
    ['no bech32', pathOf('tst1')],
    ['another network', pathOf(stranger('smr'))],
    ['a cursor of a list', `${pathOf(issuer)}?cursor=${'0'.repeat(76)}.5`],
    ['a cursor without pages', `${pathOf(issuer)}?cursor=${'0'.repeat(66)}.0`],
    ['a cursor of 1001', `${pathOf(issuer)}?cursor=${'0'.repeat(66)}.1001`],
  ])('400: %s', async (_, path) => {
    await expectError(fetch, path, 400);
  });

  it('is 500 of a collection that is too large, and without a ledger', async () => {
    const counts = { owners: 9, nfts: 50_001 };
    const large = fetchFrom({ node: nodeOver(selectingLast(await listedLedger(INDEX), counts)) });
    const detail = 'a collection of more than 50000 NFTs';
    const headers = { 'x-ledger-index': String(INDEX), 'x-error-detail': detail };
    await expectError(large, pathOf(issuer), 500, undefined, headers);
    await expectError(fetchFrom(), pathOf(issuer), 500);
  });

  it('is 404 without an address, 405 for POST', async () => {
    await expectError(fetch, '/api/edge/v1/collections//owners', 404);
    await expectError(fetch, '/api/edge/v1/collections', 404);
    await expectError(fetch, pathOf(issuer), 405, { method: 'POST' });
  });
});
