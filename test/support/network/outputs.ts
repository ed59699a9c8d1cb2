/**
 * Outputs owned by keys: basic, NFT, alias.
 */
import type { AliasOutput, BasicOutput, NftOutput } from '../../../src/stardust/wire/output.ts';
import { OutputType } from '../../../src/stardust/wire/output.ts';
import {
  type UnlockCondition,
  UnlockConditionType,
} from '../../../src/stardust/wire/unlock-condition.ts';
import type { KeyPair } from './keys.ts';

export interface TimeConditions {
  /** Nobody may spend the output before this time. */
  lockedUntil?: number;
  /** From this time on it belongs to somebody else. */
  expires?: { at: number; to: KeyPair };
}

function ownedBy(
  { address }: KeyPair,
  { lockedUntil, expires }: TimeConditions = {},
): UnlockCondition[] {
  const conditions: UnlockCondition[] = [{ type: UnlockConditionType.Address, address }];
  if (lockedUntil !== undefined)
    conditions.push({ type: UnlockConditionType.Timelock, unixTime: lockedUntil });
  if (expires !== undefined) {
    const { at: unixTime, to } = expires;
    conditions.push({ type: UnlockConditionType.Expiration, returnAddress: to.address, unixTime });
  }
  return conditions;
}

export function basic(owner: KeyPair, amount: bigint, conditions?: TimeConditions): BasicOutput {
  const unlockConditions = ownedBy(owner, conditions);
  return { type: OutputType.Basic, amount, nativeTokens: [], unlockConditions, features: [] };
}

/** A new NFT, or with `nftId` the next state of one. */
export function nft(
  owner: KeyPair,
  amount: bigint,
  nftId?: Uint8Array,
  metadata?: Uint8Array,
): NftOutput {
  return {
    type: OutputType.Nft,
    amount,
    nativeTokens: [],
    nftId: nftId ?? new Uint8Array(32),
    unlockConditions: ownedBy(owner),
    features: [],
    immutableFeatures: metadata === undefined ? [] : [{ type: 2, data: metadata }],
  };
}

/** A new alias. */
export function alias(stateController: KeyPair, governor: KeyPair, amount: bigint): AliasOutput {
  return {
    type: OutputType.Alias,
    amount,
    nativeTokens: [],
    aliasId: new Uint8Array(32),
    stateIndex: 0,
    stateMetadata: new Uint8Array(),
    foundryCounter: 0,
    unlockConditions: [
      { type: UnlockConditionType.StateController, address: stateController.address },
      { type: UnlockConditionType.Governor, address: governor.address },
    ],
    features: [],
    immutableFeatures: [],
  };
}
