/**
 * Issuers: the issuer that a new alias or NFT names must have unlocked an input (TIP-0018;
 * docs/protocol.md, A-1, N-1).
 */
import { type AddressKey, addressKey } from '../address.ts';
import { FeatureType, findFeature } from '../feature.ts';
import type { ChainTable } from './chains.ts';

/**
 * A-1, N-1: the addresses that must be unlocked. Chains that were consumed need no issuer any more.
 */
export function requiredIssuers(inChains: ChainTable, outChains: ChainTable): AddressKey[] {
  return [...outChains].flatMap(([key, { immutableFeatures }]) => {
    const issuer = findFeature(immutableFeatures, FeatureType.Issuer);
    return issuer === undefined || inChains.has(key) ? [] : [addressKey(issuer.address)];
  });
}
