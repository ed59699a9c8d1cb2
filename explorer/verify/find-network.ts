import { KNOWN_NETWORKS } from '../../src/stardust/verifier/known-networks.ts';
import { networkId } from '../../src/stardust/wire/ids.ts';

/** By the ID that transactions have (B.8); undefined where this page does not know the network. */
export function findNetwork(id: bigint | undefined) {
  return KNOWN_NETWORKS.find(({ networkName }) => networkId(networkName) === id);
}
