/**
 * Addresses: one type byte and 32 bytes (TIP-0018; docs/protocol.md, A.4). An Ed25519 address is
 * the hash of a public key, an alias or NFT address the ID of a chain. The type is part of it.
 */
import { toHexDigits } from '../encoding/bytes.ts';
import { type Codec, constant, encode, fixed, record, u8, union } from '../encoding/codec.ts';

export const AddressType = { Ed25519: 0, Alias: 8, Nft: 16 } as const;

export interface Ed25519Address {
  type: typeof AddressType.Ed25519;
  /** BLAKE2b-256 of the public key as transmitted (B.11). */
  id: Uint8Array;
}

export interface AliasAddress {
  type: typeof AddressType.Alias;
  id: Uint8Array;
}

export interface NftAddress {
  type: typeof AddressType.Nft;
  id: Uint8Array;
}

export type Address = Ed25519Address | AliasAddress | NftAddress;

/** An address as a map key: hex of its 33 bytes, type included. */
export type AddressKey = string;

// @__NO_SIDE_EFFECTS__
function addressOfType<const T extends Address['type']>(
  type: T,
): Codec<{ type: T; id: Uint8Array }> {
  return record<{ type: T; id: Uint8Array }>({ type: constant('A.4', u8, type), id: fixed(32) });
}

export const ed25519Address: Codec<Ed25519Address> = addressOfType(AddressType.Ed25519);
export const aliasAddress: Codec<AliasAddress> = addressOfType(AddressType.Alias);

export const address: Codec<Address> = union<Address>('A.4', u8, {
  [AddressType.Ed25519]: ed25519Address,
  [AddressType.Alias]: aliasAddress,
  [AddressType.Nft]: addressOfType(AddressType.Nft),
});

export const addressKey = (value: Address): AddressKey => toHexDigits(encode(address, value));
