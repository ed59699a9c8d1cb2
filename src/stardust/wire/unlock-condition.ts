/**
 * Unlock conditions of outputs (TIP-0018; docs/protocol.md, A.6): at most one of each type, in
 * ascending order of type.
 */
import { type Codec, constant, list, record, u8, u32, u64, union } from '../encoding/codec.ts';
import { refusal } from '../error.ts';
import { type Address, type AliasAddress, address, aliasAddress } from './address.ts';

export const UnlockConditionType = {
  Address: 0,
  StorageDepositReturn: 1,
  Timelock: 2,
  Expiration: 3,
  StateController: 4,
  Governor: 5,
  ImmutableAlias: 6,
} as const;

export interface AddressCondition {
  type: typeof UnlockConditionType.Address;
  address: Address;
}

export interface StorageDepositReturnCondition {
  type: typeof UnlockConditionType.StorageDepositReturn;
  returnAddress: Address;
  /** Base tokens. */
  amount: bigint;
}

export interface TimelockCondition {
  type: typeof UnlockConditionType.Timelock;
  /** Unix seconds. */
  unixTime: number;
}

export interface ExpirationCondition {
  type: typeof UnlockConditionType.Expiration;
  returnAddress: Address;
  /** Unix seconds. */
  unixTime: number;
}

export interface StateControllerCondition {
  type: typeof UnlockConditionType.StateController;
  address: Address;
}

export interface GovernorCondition {
  type: typeof UnlockConditionType.Governor;
  address: Address;
}

export interface ImmutableAliasCondition {
  type: typeof UnlockConditionType.ImmutableAlias;
  address: AliasAddress;
}

export type UnlockCondition =
  | AddressCondition
  | StorageDepositReturnCondition
  | TimelockCondition
  | ExpirationCondition
  | StateControllerCondition
  | GovernorCondition
  | ImmutableAliasCondition;

type ConditionType = UnlockCondition['type'];

const conditions: { [T in ConditionType]: Codec<Extract<UnlockCondition, { type: T }>> } = {
  0: record<AddressCondition>({ type: constant('A.6', u8, 0), address }),
  1: record<StorageDepositReturnCondition>({
    type: constant('A.6', u8, 1),
    returnAddress: address,
    amount: u64,
  }),
  2: record<TimelockCondition>({ type: constant('A.6', u8, 2), unixTime: u32 }),
  3: record<ExpirationCondition>({
    type: constant('A.6', u8, 3),
    returnAddress: address,
    unixTime: u32,
  }),
  4: record<StateControllerCondition>({ type: constant('A.6', u8, 4), address }),
  5: record<GovernorCondition>({ type: constant('A.6', u8, 5), address }),
  // C-36: the address must be an alias address
  6: record<ImmutableAliasCondition>({ type: constant('A.6', u8, 6), address: aliasAddress }),
};

const condition: Codec<UnlockCondition> = union<UnlockCondition>('C-33', u8, conditions);

/**
 * C-33: list of conditions of the allowed types, at most one of each, in ascending order of type,
 * with all required types.
 */
// @__NO_SIDE_EFFECTS__
export function unlockConditionsOf(
  allowed: readonly ConditionType[],
  required: readonly ConditionType[],
): Codec<UnlockCondition[]> {
  const codec = listByType('C-33', condition, allowed, required.length);
  return {
    decode: (r) => {
      const values = codec.decode(r);
      for (const type of required) {
        if (!values.some((value) => value.type === type))
          throw refusal('C-33', `condition ${type} is missing`);
      }
      return values;
    },
    encode: codec.encode,
  };
}

/** List of values of the allowed types, at most one of each, in ascending order of type. */
// @__NO_SIDE_EFFECTS__
export function listByType<T extends { type: number }>(
  rule: string,
  element: Codec<T>,
  allowed: readonly number[],
  min: number,
): Codec<T[]> {
  const codec = list(u8, element, { rule, min, max: allowed.length, order: 'ascending' });
  return {
    decode: (r) => {
      const values = codec.decode(r);
      values.forEach(({ type }, i) => {
        if (!allowed.includes(type))
          throw refusal(rule, `type ${type} is not allowed here`).within(i);
        if (type === values[i - 1]?.type)
          throw refusal(rule, `type ${type} is there twice`).within(i);
      });
      return values;
    },
    encode: codec.encode,
  };
}

export function findCondition<T extends ConditionType>(
  output: { unlockConditions: readonly UnlockCondition[] },
  type: T,
): Extract<UnlockCondition, { type: T }> | undefined {
  return output.unlockConditions.find((value) => value.type === type) as
    | Extract<UnlockCondition, { type: T }>
    | undefined;
}

type OwnerCondition = Extract<UnlockCondition, { address: Address }>['type'];

/**
 * Returns the address in a condition that outputs of this type must have. Throws an Error if it is
 * missing, which the codecs exclude (C-33).
 */
export function addressIn(
  output: { unlockConditions: readonly UnlockCondition[] },
  type: OwnerCondition,
): Address {
  const condition = findCondition(output, type);
  if (condition === undefined) throw new Error(`an output without unlock condition ${type}`);
  return condition.address;
}
