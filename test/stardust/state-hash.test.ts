/**
 * The ledger's state hash (docs/snapshot-format.md#state-hash), as HORNET computed it for two
 * networks.
 */
import { expect, it } from 'vitest';
import { stateHash } from '../../src/stardust/state-hash.ts';
import { ledgerAt, type Network, treasuryAt } from '../support/network/network-model.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';

const networkA = recordedNetwork('network-a');
const networkC = recordedNetwork('network-c');

it.each<[Network, number, string]>([
  [networkA, 81, '987f45404baa75ebb31617db0dda5458367b1da1a1bc2859a860c2498e796b9e'],
  [networkA, 106, '577f3d596803a35b2abee1e2b115702092a672ce404186a78f581c32e10884df'],
  [networkC, 41, '3a0ad6b5f3b8b8018be60c3e0c2247c2fa5b9745ae5fac1e7f5470cf0e9dcd7d'],
  [networkC, 68, '5d8c90245d379f5b3ac95b3428e8f97f7cecd137b21591cbc995c97b64c580e3'],
])('$0.name at milestone %i', async (network, index, hash) => {
  const computed = await stateHash(index, treasuryAt(network, index), ledgerAt(network, index));
  expect(computed.toHex()).toBe(hash);
});

it('throws if outputs are out of order or occur twice', async () => {
  const [first, second] = ledgerAt(networkA, 106);
  for (const before of [second!, first!]) {
    const computed = stateHash(106, treasuryAt(networkA, 106), [before, first!]);
    await expect(computed).rejects.toThrow('not in ascending order');
  }
});
