/**
 * Outputs with their addresses, unlock conditions and features. Whatever is not said takes a plain
 * default: a million base tokens, no features, conditions in order.
 */
import { blake2b256 } from '../../../src/stardust/crypto/hash.ts';
import { type Address, AddressType } from '../../../src/stardust/wire/address.ts';
import { type Feature, FeatureType } from '../../../src/stardust/wire/feature.ts';
import { foundryId, nftIdOf } from '../../../src/stardust/wire/ids.ts';
import {
  type AliasOutput,
  type BasicOutput,
  type FoundryOutput,
  type NativeToken,
  type NftOutput,
  type Output,
  OutputType,
} from '../../../src/stardust/wire/output.ts';
import {
  type UnlockCondition,
  UnlockConditionType,
} from '../../../src/stardust/wire/unlock-condition.ts';

export const ZERO = new Uint8Array(32);

/** 32 bytes that are the hash of a name. */
export function idOf(name: string): Uint8Array {
  return blake2b256(new TextEncoder().encode(name));
}

/** An address, or whoever has one: a pair of keys. */
export type Owner = Address | { address: Address };

const addressOf = (owner: Owner): Address => ('address' in owner ? owner.address : owner);

export function aliasAddress(id: Uint8Array): Extract<Address, { type: typeof AddressType.Alias }> {
  return { type: AddressType.Alias, id };
}

export function nftAddress(id: Uint8Array): Address {
  return { type: AddressType.Nft, id };
}

// Conditions and features

export const timelock = (unixTime: number): UnlockCondition => ({
  type: UnlockConditionType.Timelock,
  unixTime,
});

export const expiration = (returnAddress: Owner, unixTime: number): UnlockCondition => ({
  type: UnlockConditionType.Expiration,
  returnAddress: addressOf(returnAddress),
  unixTime,
});

export const depositReturn = (returnAddress: Owner, amount: bigint): UnlockCondition => ({
  type: UnlockConditionType.StorageDepositReturn,
  returnAddress: addressOf(returnAddress),
  amount,
});

export const sender = (owner: Owner): Feature => ({
  type: FeatureType.Sender,
  address: addressOf(owner),
});
export const issuer = (owner: Owner): Feature => ({
  type: FeatureType.Issuer,
  address: addressOf(owner),
});
export const metadata = (data: ArrayLike<number>): Feature => ({
  type: FeatureType.Metadata,
  data: Uint8Array.from(data),
});
export const tag = (...bytes: number[]): Feature => ({
  type: FeatureType.Tag,
  tag: Uint8Array.from(bytes),
});

// Outputs

export interface More {
  amount?: bigint;
  tokens?: NativeToken[];
  /** Beside those that name the owner. */
  conditions?: UnlockCondition[];
  features?: Feature[];
  immutable?: Feature[];
}

const byType = (a: { type: number }, b: { type: number }) => a.type - b.type;

function fields(
  owners: UnlockCondition[],
  { amount = 1_000_000n, tokens = [], conditions = [], features = [] }: More,
) {
  return {
    amount,
    nativeTokens: tokens.toSorted((a, b) => Buffer.compare(a.id, b.id)),
    unlockConditions: [...owners, ...conditions].sort(byType),
    features: features.toSorted(byType),
  };
}

const ownedBy = (owner: Owner): UnlockCondition[] => [
  { type: UnlockConditionType.Address, address: addressOf(owner) },
];

export function basic(owner: Owner, more: More = {}): BasicOutput {
  return { type: OutputType.Basic, ...fields(ownedBy(owner), more) };
}

export function nft(
  owner: Owner,
  { nftId = ZERO, ...more }: More & { nftId?: Uint8Array } = {},
): NftOutput {
  return {
    type: OutputType.Nft,
    ...fields(ownedBy(owner), more),
    nftId,
    immutableFeatures: more.immutable ?? [],
  };
}

export interface AliasFields extends More {
  aliasId?: Uint8Array;
  stateIndex?: number;
  stateMetadata?: Uint8Array;
  foundryCounter?: number;
}

export function alias(
  stateController: Owner,
  governor: Owner,
  given: AliasFields = {},
): AliasOutput {
  const {
    aliasId = ZERO,
    stateIndex = 0,
    stateMetadata = new Uint8Array(),
    foundryCounter = 0,
    ...more
  } = given;
  const controllers: UnlockCondition[] = [
    { type: UnlockConditionType.StateController, address: addressOf(stateController) },
    { type: UnlockConditionType.Governor, address: addressOf(governor) },
  ];
  return {
    type: OutputType.Alias,
    ...fields(controllers, more),
    aliasId,
    stateIndex,
    stateMetadata,
    foundryCounter,
    immutableFeatures: more.immutable ?? [],
  };
}

export interface FoundryFields extends More {
  serialNumber?: number;
  minted?: bigint;
  melted?: bigint;
  maximumSupply?: bigint;
}

export function foundry(aliasId: Uint8Array, given: FoundryFields = {}): FoundryOutput {
  const { serialNumber = 1, minted = 0n, melted = 0n, maximumSupply = 1000n, ...more } = given;
  return {
    type: OutputType.Foundry,
    ...fields([{ type: UnlockConditionType.ImmutableAlias, address: aliasAddress(aliasId) }], more),
    serialNumber,
    tokenScheme: { type: 0, minted, melted, maximumSupply },
    immutableFeatures: more.immutable ?? [],
  };
}

/** Tokens of the alias's foundry with this serial number. */
export function tokens(aliasId: Uint8Array, amount: bigint, serialNumber = 1): NativeToken {
  return { id: foundryId(foundry(aliasId, { serialNumber })), amount };
}

/** The NFT's ID if the output is an NFT. */
export function nftIdOfOutput(value: Output, ownOutputId: Uint8Array): Uint8Array | undefined {
  return value.type === OutputType.Nft ? nftIdOf(value, ownOutputId) : undefined;
}
