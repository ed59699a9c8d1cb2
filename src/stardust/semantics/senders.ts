/**
 * Senders: the sender that an output names must have unlocked an input (TIP-0018; docs/protocol.md,
 * D.2, S3).
 */
import { type AddressKey, addressKey } from '../wire/address.ts';
import { FeatureType, findFeature } from '../wire/feature.ts';
import type { Output } from '../wire/output.ts';

/** S3: the addresses that must be unlocked, and the place of the output that names each. */
export function requiredSenders(
  outputs: readonly Output[],
): { output: number; address: AddressKey }[] {
  return outputs.flatMap((output, place) => {
    const sender = findFeature(output.features, FeatureType.Sender);
    return sender === undefined ? [] : [{ output: place, address: addressKey(sender.address) }];
  });
}
