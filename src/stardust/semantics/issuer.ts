/**
 * Issuers: who stands in a new alias or NFT as its issuer must have unlocked an input (TIP-0018; protocol.md A-1, N-1).
 */
import { type AddressKey, addressKey } from '../address.ts';
import { FeatureType, findFeature } from '../feature.ts';
import type { ChainTable } from './chains.ts';

/** The addresses that must be unlocked. A chain that goes on needs its issuer no more. */
export function requiredIssuers(inChains: ChainTable, outChains: ChainTable): AddressKey[] {
  return [...outChains].flatMap(([key, { immutableFeatures }]) => {
    const issuer = findFeature(immutableFeatures, FeatureType.Issuer);
    return issuer === undefined || inChains.has(key) ? [] : [addressKey(issuer.address)];
  });
}
