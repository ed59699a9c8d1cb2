/**
 * The ledger's state hash (docs/snapshot-format.md#state-hash), as HORNET computed it for two
 * networks.
 */
import { expect, it } from 'vitest';
import { stateHash } from '../../src/stardust/state-hash.ts';
import { ledgerAt, treasuryAt } from '../support/network/network-model.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';

const networkA = recordedNetwork('network-a');
const networkC = recordedNetwork('network-c');

it.each([
  {
    network: networkA,
    index: 81,
    hash: '987f45404baa75ebb31617db0dda5458367b1da1a1bc2859a860c2498e796b9e',
  },
  {
    network: networkA,
    index: 106,
    hash: '577f3d596803a35b2abee1e2b115702092a672ce404186a78f581c32e10884df',
  },
  {
    network: networkC,
    index: 41,
    hash: '3a0ad6b5f3b8b8018be60c3e0c2247c2fa5b9745ae5fac1e7f5470cf0e9dcd7d',
  },
  {
    network: networkC,
    index: 68,
    hash: '5d8c90245d379f5b3ac95b3428e8f97f7cecd137b21591cbc995c97b64c580e3',
  },
])('$network.name at milestone $index', async ({ network, index, hash }) => {
  expect(
    (await stateHash(index, treasuryAt(network, index), ledgerAt(network, index))).toHex(),
  ).toBe(hash);
});

it('throws if outputs are out of order or occur twice', async () => {
  const [first, second] = ledgerAt(networkA, 106);
  for (const outputs of [
    [second!, first!],
    [first!, first!],
  ]) {
    await expect(stateHash(106, treasuryAt(networkA, 106), outputs)).rejects.toThrow(
      'not in ascending order',
    );
  }
});
