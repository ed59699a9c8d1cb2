/**
 * Senders and issuers: a sender that an output names, and the issuer that a new alias or NFT names,
 * must have unlocked an input (TIP-0018; docs/protocol.md, S3, A-1, N-1).
 */
import { type AddressKey, addressKey } from '../wire/address.ts';
import { FeatureType, findFeature } from '../wire/feature.ts';
import type { Output } from '../wire/output.ts';
import type { ChainKey, ChainTable } from './chains.ts';

/** S3: the addresses that must be unlocked, and the place of the output that names each. */
export function requiredSenders(
  outputs: readonly Output[],
): { output: number; address: AddressKey }[] {
  return outputs.flatMap((output, place) => {
    const sender = findFeature(output.features, FeatureType.Sender);
    return sender === undefined ? [] : [{ output: place, address: addressKey(sender.address) }];
  });
}

/** A-1, N-1: addresses that must be unlocked, and the chain that names each, if it is new. */
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
