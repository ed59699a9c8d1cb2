/** GET /api/edge/v1/nfts: which NFTs, by exactly one parameter (docs/contract.md#nfts). */
import { expect, it } from 'vitest';
import { fetchRecorded } from '../../support/lies/recorded-source.ts';
import { recordedNetwork } from '../../support/network/recorded-network.ts';

it('an empty choice is a choice', async () => {
  const ask = await fetchRecorded(recordedNetwork('network-a'), 60);
  const address = 'smr1zq6yg8qf59prjwx72ldzwux0g6se3r5xpt7x3xtc67xlx0p9u63fktney6m';
  for (const query of [
    'ids=',
    'address=',
    `ids=&address=${address}`,
    `issuer=&ids=0x${'1'.repeat(64)}`,
  ]) {
    const { status, headers } = await ask(`/api/edge/v1/nfts?${query}`);
    expect(status).toBe(400);
    expect(headers.get('x-error-detail')).toBe('one of ids, address and issuer must be given');
  }
});
