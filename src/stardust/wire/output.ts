/**
 * Outputs (TIP-0018; docs/protocol.md, A.5, A.8): basic, alias, foundry, NFT, and the native tokens
 * that each may hold. The treasury output is in milestone.ts: only a receipt has it.
 */
import {
  byteString,
  type Codec,
  constant,
  fixed,
  list,
  record,
  u8,
  u16,
  u32,
  u64,
  u256,
  union,
} from '../encoding/codec.ts';
import type { Address } from './address.ts';
import { type Feature, featuresOf } from './feature.ts';
import {
  addressIn,
  type UnlockCondition,
  UnlockConditionType,
  unlockConditionsOf,
} from './unlock-condition.ts';

export const OutputType = { Basic: 3, Alias: 4, Foundry: 5, Nft: 6 } as const;

export interface NativeToken {
  /** 38 bytes, the foundry ID of the token (B.7). */
  id: Uint8Array;
  /** uint256. */
  amount: bigint;
}

export interface SimpleTokenScheme {
  type: 0;
  /** uint256, as are `melted` and `maximumSupply`. */
  minted: bigint;
  melted: bigint;
  maximumSupply: bigint;
}

interface OutputFields {
  /** Base tokens, uint64. */
  amount: bigint;
  nativeTokens: NativeToken[];
  unlockConditions: UnlockCondition[];
  features: Feature[];
}

export interface BasicOutput extends OutputFields {
  type: typeof OutputType.Basic;
}

export interface AliasOutput extends OutputFields {
  type: typeof OutputType.Alias;
  /** 32 bytes; all zero in the output that creates the alias (B.6). */
  aliasId: Uint8Array;
  stateIndex: number;
  stateMetadata: Uint8Array;
  foundryCounter: number;
  immutableFeatures: Feature[];
}

export interface FoundryOutput extends OutputFields {
  type: typeof OutputType.Foundry;
  serialNumber: number;
  tokenScheme: SimpleTokenScheme;
  immutableFeatures: Feature[];
}

export interface NftOutput extends OutputFields {
  type: typeof OutputType.Nft;
  /** 32 bytes; all zero in the output that mints the NFT (B.6). */
  nftId: Uint8Array;
  immutableFeatures: Feature[];
}

export type Output = BasicOutput | AliasOutput | FoundryOutput | NftOutput;

const nativeToken: Codec<NativeToken> = record<NativeToken>({ id: fixed(38), amount: u256 });

// C-24: ascending order of their IDs, and no ID twice
const nativeTokens = list(u8, nativeToken, {
  rule: 'C-24',
  min: 0,
  max: 64,
  order: 'ascending',
  compared: 38,
});

const tokenScheme: Codec<SimpleTokenScheme> = record<SimpleTokenScheme>({
  type: constant('A.8', u8, 0),
  minted: u256,
  melted: u256,
  maximumSupply: u256,
});

const basicOutput: Codec<BasicOutput> = record<BasicOutput>({
  type: constant('A.8', u8, OutputType.Basic),
  amount: u64,
  nativeTokens,
  unlockConditions: unlockConditionsOf([0, 1, 2, 3], [0]),
  features: featuresOf([0, 2, 3]),
});

const aliasOutput: Codec<AliasOutput> = record<AliasOutput>({
  type: constant('A.8', u8, OutputType.Alias),
  amount: u64,
  nativeTokens,
  aliasId: fixed(32),
  stateIndex: u32,
  stateMetadata: byteString('C-35', u16, 0, 8192),
  foundryCounter: u32,
  unlockConditions: unlockConditionsOf([4, 5], [4, 5]),
  features: featuresOf([0, 2]),
  immutableFeatures: featuresOf([1, 2]),
});

const foundryOutput: Codec<FoundryOutput> = record<FoundryOutput>({
  type: constant('A.8', u8, OutputType.Foundry),
  amount: u64,
  nativeTokens,
  serialNumber: u32,
  tokenScheme,
  unlockConditions: unlockConditionsOf([6], [6]),
  features: featuresOf([2]),
  immutableFeatures: featuresOf([2]),
});

/** C-33: those of NFT outputs. */
export const nftConditions = unlockConditionsOf([0, 1, 2, 3], [0]);

const nftOutput: Codec<NftOutput> = record<NftOutput>({
  type: constant('A.8', u8, OutputType.Nft),
  amount: u64,
  nativeTokens,
  nftId: fixed(32),
  unlockConditions: nftConditions,
  features: featuresOf([0, 2, 3]),
  immutableFeatures: featuresOf([1, 2]),
});

/** C-12: an output that a transaction may create or consume. */
export const output: Codec<Output> = union<Output>('C-12', u8, {
  [OutputType.Basic]: basicOutput,
  [OutputType.Alias]: aliasOutput,
  [OutputType.Foundry]: foundryOutput,
  [OutputType.Nft]: nftOutput,
});

/** Address to which the output goes: of an alias its state controller, of a foundry its alias. */
export function holderOf(output: Output): Address {
  switch (output.type) {
    case OutputType.Alias:
      return addressIn(output, UnlockConditionType.StateController);
    case OutputType.Foundry:
      return addressIn(output, UnlockConditionType.ImmutableAlias);
    default:
      return addressIn(output, UnlockConditionType.Address);
  }
}
