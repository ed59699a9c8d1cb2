/** Identifiers (docs/protocol.md, B): BLAKE2b-256 hashes, or made up of them. */
import { blake2b256 } from '../crypto/hash.ts';
import { concatBytes, isZero, Reader, Writer } from '../encoding/bytes.ts';
import { decode, encode } from '../encoding/codec.ts';
import { AddressType } from './address.ts';
import { type Milestone, milestoneEssenceBytes } from './milestone.ts';
import {
  type AliasOutput,
  type FoundryOutput,
  type NftOutput,
  type Output,
  OutputType,
  output,
} from './output.ts';
import { essenceBytes, type Transaction, type TransactionEssence } from './transaction.ts';
import { addressIn, UnlockConditionType } from './unlock-condition.ts';

/** B.1: the hash of the whole block. */
export function blockId(block: Uint8Array): Uint8Array {
  return blake2b256(block);
}

/** B.2: the hash of the whole payload, unlocks included. */
export function transactionId(payload: Uint8Array): Uint8Array {
  return blake2b256(payload);
}

/** B.3: the 32 bytes that the signatures of a transaction sign. */
export function signedDigest(transaction: Transaction, payload: Uint8Array): Uint8Array {
  return blake2b256(essenceBytes(transaction, payload));
}

/**
 * B.4: 34 bytes, the transaction ID and the output's index as uint16, little-endian. Throws a
 * RangeError if the index does not fit.
 */
export function outputId(transactionId: Uint8Array, index: number): Uint8Array {
  if (!(index >= 0 && index <= 0xffff)) throw new RangeError(`output index ${index}`);
  return concatBytes(transactionId, Uint8Array.of(index & 0xff, index >> 8));
}

/** IDs of the outputs that a transaction consumes, in the order of its inputs. */
export function consumedIds({ inputs }: Pick<TransactionEssence, 'inputs'>): Uint8Array[] {
  return inputs.map(({ transactionId, outputIndex }) => outputId(transactionId, outputIndex));
}

/** B.5: the hash of the hashes of the consumed outputs' bytes, in the order of the inputs. */
export function inputsCommitment(
  consumed: readonly { bytes: Uint8Array; hash?: Uint8Array }[],
): Uint8Array {
  const hashes = consumed.map(({ bytes, hash = blake2b256(bytes) }) => hash);
  return blake2b256(concatBytes(...hashes));
}

/** B.6: the ID of the alias or NFT that the output with this ID creates. */
export function chainIdFromOutputId(creatingOutputId: Uint8Array): Uint8Array {
  return blake2b256(creatingOutputId);
}

/** B.6: the alias's ID. An output that creates an alias carries zeros in its place. */
export function aliasIdOf(alias: AliasOutput, ownOutputId: Uint8Array): Uint8Array {
  return isZero(alias.aliasId) ? chainIdFromOutputId(ownOutputId) : alias.aliasId;
}

/**
 * B.6: the NFT's ID, 32 bytes. An output that mints an NFT carries zeros in its place.
 *
 * @param ownOutputId of the output itself, 34 bytes
 *
 * @example
 * ```ts
 * import { toHex } from '@stardust-edge/protocol/bytes';
 * import { type NftOutput, nftIdOf, outputId } from '@stardust-edge/protocol/output';
 *
 * export function nameOf(nft: NftOutput, transactionId: Uint8Array, index: number): string {
 *   return toHex(nftIdOf(nft, outputId(transactionId, index)));
 * }
 * ```
 */
export function nftIdOf(nft: NftOutput, ownOutputId: Uint8Array): Uint8Array {
  return isZero(nft.nftId) ? chainIdFromOutputId(ownOutputId) : nft.nftId;
}

/** B.7: 38 bytes, from the address in the immutable alias condition and the serial number. */
export function foundryId(foundry: FoundryOutput): Uint8Array {
  const owner = addressIn(foundry, UnlockConditionType.ImmutableAlias);
  const alias = new Writer().u8(AddressType.Alias).put(owner.id);
  return alias.u32(foundry.serialNumber).u8(0).finish();
}

/** B.8: the first 8 bytes of the name's hash, as uint64. */
export function networkId(name: string): bigint {
  return new Reader(blake2b256(new TextEncoder().encode(name))).u64();
}

/** B.9: the milestone's ID. Its signatures sign this ID. */
export function milestoneId(milestone: Milestone, payload: Uint8Array): Uint8Array {
  return blake2b256(milestoneEssenceBytes(milestone, payload));
}

/** B.10: 34 bytes, ID of the output made of the fund at `position` of the milestone's receipt. */
export function migratedOutputId(milestoneId: Uint8Array, position: number): Uint8Array {
  return outputId(milestoneId, position);
}

/** B.11: the ID of the public key's address. */
export function ed25519AddressId(publicKey: Uint8Array): Uint8Array {
  return blake2b256(publicKey);
}

/** Returns the ID of the output's chain (TIP-18): 32 bytes of an alias or NFT, 38 of a foundry. */
export function chainIdOf(value: Output, ownOutputId: Uint8Array): Uint8Array | undefined {
  switch (value.type) {
    case OutputType.Alias:
      return aliasIdOf(value, ownOutputId);
    case OutputType.Foundry:
      return foundryId(value);
    case OutputType.Nft:
      return nftIdOf(value, ownOutputId);
    default:
      return undefined;
  }
}

/** The output in binary form (A.8), as in blocks and in the ledger. */
export function outputBytes(value: Output): Uint8Array {
  return encode(output, value);
}

/**
 * Decodes an output from its binary form (A.8); throws a StardustError if the bytes are none.
 *
 * @example
 * ```ts
 * import { fromHex } from '@stardust-edge/protocol/bytes';
 * import { decodeOutput } from '@stardust-edge/protocol/output';
 *
 * const hex = `0x0340420f00000000000001${'00'.repeat(34)}00`;
 * console.log(decodeOutput(fromHex(hex)).amount); // 1000000n
 * ```
 */
export function decodeOutput(bytes: Uint8Array): Output {
  return decode(output, bytes);
}
