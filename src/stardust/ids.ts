/**
 * Identifiers (protocol.md B): all BLAKE2b-256, or put together from such.
 */

import { AddressType } from './address.ts';
import { concatBytes, isZero, Reader } from './bytes.ts';
import { decode, encode } from './codec.ts';
import { blake2b256 } from './hash.ts';
import { type Milestone, milestoneEssenceBytes } from './milestone.ts';
import {
  type AliasOutput,
  type FoundryOutput,
  type NftOutput,
  type Output,
  OutputType,
  output,
} from './output.ts';
import { essenceBytes, type Transaction } from './transaction.ts';
import { addressIn, UnlockConditionType } from './unlock-condition.ts';

/** B.1: over the whole block. */
export function blockId(block: Uint8Array): Uint8Array {
  return blake2b256(block);
}

/** B.2: over the whole payload, unlocks included. */
export function transactionId(payload: Uint8Array): Uint8Array {
  return blake2b256(payload);
}

/** B.3: the 32 bytes that the inputs' signatures sign. */
export function signedDigest(transaction: Transaction, payload: Uint8Array): Uint8Array {
  return blake2b256(essenceBytes(transaction, payload));
}

/** B.4: 34 bytes, the index little-endian. */
export function outputId(transactionId: Uint8Array, index: number): Uint8Array {
  return concatBytes(transactionId, Uint8Array.of(index & 0xff, index >> 8));
}

/** B.5: over the consumed outputs' bytes, in the order of the inputs. */
export function inputsCommitment(consumed: readonly Uint8Array[]): Uint8Array {
  return blake2b256(concatBytes(...consumed.map(blake2b256)));
}

/** B.6: the ID of the alias or NFT that the output with this ID creates. */
export function chainIdFromOutputId(creatingOutputId: Uint8Array): Uint8Array {
  return blake2b256(creatingOutputId);
}

/** B.6: the alias's ID, also where the output that creates it carries zeros. */
export function aliasIdOf(alias: AliasOutput, ownOutputId: Uint8Array): Uint8Array {
  return isZero(alias.aliasId) ? chainIdFromOutputId(ownOutputId) : alias.aliasId;
}

/** B.6: the NFT's ID, also where the output that mints it carries zeros. */
export function nftIdOf(nft: NftOutput, ownOutputId: Uint8Array): Uint8Array {
  return isZero(nft.nftId) ? chainIdFromOutputId(ownOutputId) : nft.nftId;
}

/** B.7: 38 bytes; the alias is the one of the output's immutable alias condition. */
export function foundryId(foundry: FoundryOutput): Uint8Array {
  const owner = addressIn(foundry, UnlockConditionType.ImmutableAlias);
  const serial = foundry.serialNumber;
  const tail = Uint8Array.of(
    serial & 0xff,
    (serial >> 8) & 0xff,
    (serial >> 16) & 0xff,
    serial >>> 24,
    0,
  );
  return concatBytes(Uint8Array.of(AddressType.Alias), owner.id, tail);
}

/** B.8: the first 8 bytes of the name's hash, as uint64. */
export function networkId(name: string): bigint {
  return new Reader(blake2b256(new TextEncoder().encode(name))).u64();
}

/** B.9: the milestone's ID, and the message that its signatures sign. */
export function milestoneId(milestone: Milestone, payload: Uint8Array): Uint8Array {
  return blake2b256(milestoneEssenceBytes(milestone, payload));
}

/** B.10: 34 bytes, for the fund at `position` of the milestone's receipt. */
export function migratedOutputId(milestoneId: Uint8Array, position: number): Uint8Array {
  return outputId(milestoneId, position);
}

/** B.11: the address that a public key belongs to. */
export function ed25519AddressId(publicKey: Uint8Array): Uint8Array {
  return blake2b256(publicKey);
}

/** The NFT's ID if the output is one. */
export function nftIdOfOutput(value: Output, ownOutputId: Uint8Array): Uint8Array | undefined {
  return value.type === OutputType.Nft ? nftIdOf(value, ownOutputId) : undefined;
}

/** The bytes of an output as they stand in blocks and in the ledger. */
export function outputBytes(value: Output): Uint8Array {
  return encode(output, value);
}

/** The output that bytes from a block, a snapshot or the ledger hold; a Refusal if they hold none. */
export function decodeOutput(bytes: Uint8Array): Output {
  return decode(output, new Reader(bytes));
}
