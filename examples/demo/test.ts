import { expect, it } from 'vitest';
import { checkLedgerRead } from '../../support/http/contract.ts';
import { fetchRecorded } from '../../support/lies/recorded-source.ts';
import { recordedNetwork } from '../../support/network/recorded-network.ts';

const DEMO = '/api/edge/v1/demo';

it('counts the NFTs of a recorded ledger', async () => {
  const fetch = await fetchRecorded(recordedNetwork('network-n'), 90);
  await checkLedgerRead(fetch, DEMO, 90);
  expect(await (await fetch(DEMO)).json()).toEqual({ ledgerIndex: 90, nftCount: 483 });
});
