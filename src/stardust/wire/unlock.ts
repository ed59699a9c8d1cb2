/** Unlocks and the signatures in them (TIP-0020, TIP-0018; docs/protocol.md, A.9). */
import { type Codec, constant, fixed, record, u8, u16, union } from '../encoding/codec.ts';

export const UnlockType = { Signature: 0, Reference: 1, Alias: 2, Nft: 3 } as const;

export interface Ed25519Signature {
  type: 0;
  /** 32 bytes, not normalised (F.3). */
  publicKey: Uint8Array;
  /** 64 bytes, R and S. */
  signature: Uint8Array;
}

export interface SignatureUnlock {
  type: typeof UnlockType.Signature;
  signature: Ed25519Signature;
}

/** Refers to the input whose signature unlocked the same address. */
export interface ReferenceUnlock {
  type: typeof UnlockType.Reference;
  reference: number;
}

/** Refers to the input that is the alias whose address owns this one. */
export interface AliasUnlock {
  type: typeof UnlockType.Alias;
  reference: number;
}

/** Refers to the input that is the NFT whose address owns this one. */
export interface NftUnlock {
  type: typeof UnlockType.Nft;
  reference: number;
}

export type Unlock = SignatureUnlock | ReferenceUnlock | AliasUnlock | NftUnlock;

export const ed25519Signature: Codec<Ed25519Signature> = record<Ed25519Signature>({
  type: constant('A.9', u8, 0),
  publicKey: fixed(32),
  signature: fixed(64),
});

export const unlock: Codec<Unlock> = union<Unlock>('A.9', u8, {
  [UnlockType.Signature]: record<SignatureUnlock>({
    type: constant('A.9', u8, 0),
    signature: ed25519Signature,
  }),
  [UnlockType.Reference]: record<ReferenceUnlock>({ type: constant('A.9', u8, 1), reference: u16 }),
  [UnlockType.Alias]: record<AliasUnlock>({ type: constant('A.9', u8, 2), reference: u16 }),
  [UnlockType.Nft]: record<NftUnlock>({ type: constant('A.9', u8, 3), reference: u16 }),
});

/** Bytes on the wire: 98 for a signature, 3 for the others. */
export function unlockLength(value: Unlock): number {
  return value.type === UnlockType.Signature ? 98 : 3;
}
