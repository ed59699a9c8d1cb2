/**
 * Senders: the sender that an output names must have unlocked an input (TIP-0018; docs/protocol.md,
 * D.2, S3).
 */
import { type AddressKey, addressKey } from '../address.ts';
import { FeatureType, findFeature } from '../feature.ts';
import type { Output } from '../output.ts';

/** S3: the addresses that must be unlocked. */
export function requiredSenders(outputs: readonly Output[]): AddressKey[] {
  return outputs.flatMap((output) => {
    const sender = findFeature(output.features, FeatureType.Sender);
    return sender === undefined ? [] : [addressKey(sender.address)];
  });
}
