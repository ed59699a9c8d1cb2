/**
 * Issuers: the issuer that a new alias or NFT names must have unlocked an input (TIP-0018;
 * docs/protocol.md, A-1, N-1).
 */
import { type AddressKey, addressKey } from '../wire/address.ts';
import { FeatureType, findFeature } from '../wire/feature.ts';
import type { ChainKey, ChainTable } from './chains.ts';

/**
 * A-1, N-1: the addresses that must be unlocked, and the chain that names each. Chains that were
 * consumed need no issuer any more.
 */
export function requiredIssuers(
  inChains: ChainTable,
  outChains: ChainTable,
): { chain: ChainKey; address: AddressKey }[] {
  return [...outChains].flatMap(([key, { immutableFeatures }]) => {
    const issuer = findFeature(immutableFeatures, FeatureType.Issuer);
    return issuer === undefined || inChains.has(key)
      ? []
      : [{ chain: key, address: addressKey(issuer.address) }];
  });
}
