/**
 * Blocks and milestones from their REST form (TIP-25), as proof files hold them: the inverse of
 * src/stardust/json/rest-json.ts. Only the form is checked, and that nothing is lost: encode the
 * result and parse that.
 */

import {
  array,
  asObject,
  bytes,
  flag,
  integer,
  isAbsent,
  type JsonObject,
  part,
  parts,
  readWhole,
  text,
} from '../encoding/json-object.ts';
import { StardustError } from '../error.ts';
import {
  type Address,
  AddressType,
  type AliasAddress,
  type Ed25519Address,
} from '../wire/address.ts';
import type { Block, Payload } from '../wire/block.ts';
import { type Feature, FeatureType } from '../wire/feature.ts';
import type { Milestone, MilestoneOption } from '../wire/milestone.ts';
import {
  type NativeToken,
  type Output,
  OutputType,
  type SimpleTokenScheme,
} from '../wire/output.ts';
import type { Input, TaggedData, Transaction, TransactionEssence } from '../wire/transaction.ts';
import { type Ed25519Signature, type Unlock, UnlockType } from '../wire/unlock.ts';
import { type UnlockCondition, UnlockConditionType } from '../wire/unlock-condition.ts';

/**
 * A block. Throws a {@link StardustError} if the JSON does not have the form of one; it may break any
 * other rule.
 *
 * @example
 * ```ts
 * import { blockFromJson, blockToJson, decodeBlock, encodeBlock } from '@stardust-edge/protocol/block';
 *
 * export function isValid(json: unknown): boolean {
 *   return blockToJson(decodeBlock(encodeBlock(blockFromJson(json))).block) !== undefined;
 * }
 * ```
 */
export function blockFromJson(json: unknown): Block {
  return readWhole(json, readBlock);
}

function readBlock(json: unknown): Block {
  const object = asObject(json);
  return {
    protocolVersion: integer(object, 'protocolVersion', 0xff),
    parents: ids(object, 'parents'),
    payload: isAbsent(object.payload) ? undefined : part(object, 'payload', readPayload),
    nonce: uint64(object, 'nonce'),
  };
}

function readPayload(json: unknown): Payload {
  const object = asObject(json);
  switch (object.type) {
    case 5:
      return readTaggedData(object);
    case 6:
      return readTransaction(object);
    case 7:
      return readMilestone(object);
    default:
      throw unknownType('payload', object);
  }
}

function readTaggedData(json: unknown): TaggedData {
  const object = asObject(json);
  return {
    type: only(5, object),
    tag: optionalBytes(object, 'tag'),
    data: optionalBytes(object, 'data'),
  };
}

function readTransaction(object: JsonObject): Transaction {
  return {
    type: 6,
    essence: part(object, 'essence', readEssence),
    unlocks: parts(object, 'unlocks', readUnlock),
  };
}

function readEssence(json: unknown): TransactionEssence {
  const essence = asObject(json);
  return {
    type: only(1, essence),
    networkId: uint64(essence, 'networkId'),
    inputs: parts(essence, 'inputs', readInput),
    inputsCommitment: id(essence, 'inputsCommitment'),
    outputs: parts(essence, 'outputs', readOutput),
    payload: isAbsent(essence.payload) ? undefined : part(essence, 'payload', readTaggedData),
  };
}

function readInput(json: unknown): Input {
  const object = asObject(json);
  return {
    type: only(0, object),
    transactionId: id(object, 'transactionId'),
    outputIndex: integer(object, 'transactionOutputIndex', 0xffff),
  };
}

function readUnlock(json: unknown): Unlock {
  const object = asObject(json);
  switch (object.type) {
    case UnlockType.Signature:
      return { type: object.type, signature: part(object, 'signature', readSignature) };
    case UnlockType.Reference:
    case UnlockType.Alias:
    case UnlockType.Nft:
      return { type: object.type, reference: integer(object, 'reference', 0xffff) };
    default:
      throw unknownType('unlock', object);
  }
}

function readSignature(json: unknown): Ed25519Signature {
  const object = asObject(json);
  return {
    type: only(0, object),
    publicKey: id(object, 'publicKey'),
    signature: id(object, 'signature', 64),
  };
}

/** An output. Throws a {@link StardustError} if the JSON does not have the form of one. */
export function outputFromJson(json: unknown): Output {
  return readWhole(json, readOutput);
}

function readOutput(json: unknown): Output {
  const object = asObject(json);
  const common = {
    amount: uint64(object, 'amount'),
    nativeTokens: parts(object, 'nativeTokens', readNativeToken),
    unlockConditions: parts(object, 'unlockConditions', readUnlockCondition),
    features: parts(object, 'features', readFeature),
  };
  if (object.type === OutputType.Basic) return { type: object.type, ...common };
  const immutableFeatures = parts(object, 'immutableFeatures', readFeature);
  switch (object.type) {
    case OutputType.Alias:
      return {
        type: object.type,
        ...common,
        aliasId: id(object, 'aliasId'),
        stateIndex: integer(object, 'stateIndex'),
        stateMetadata: optionalBytes(object, 'stateMetadata'),
        foundryCounter: integer(object, 'foundryCounter'),
        immutableFeatures,
      };
    case OutputType.Foundry:
      return {
        type: object.type,
        ...common,
        serialNumber: integer(object, 'serialNumber'),
        tokenScheme: part(object, 'tokenScheme', readTokenScheme),
        immutableFeatures,
      };
    case OutputType.Nft:
      return { type: object.type, ...common, nftId: id(object, 'nftId'), immutableFeatures };
    default:
      throw unknownType('output', object);
  }
}

function readNativeToken(json: unknown): NativeToken {
  const object = asObject(json);
  return { id: id(object, 'id', 38), amount: uint256(object, 'amount') };
}

function readTokenScheme(json: unknown): SimpleTokenScheme {
  const object = asObject(json);
  return {
    type: only(0, object),
    minted: uint256(object, 'mintedTokens'),
    melted: uint256(object, 'meltedTokens'),
    maximumSupply: uint256(object, 'maximumSupply'),
  };
}

function readUnlockCondition(json: unknown): UnlockCondition {
  const object = asObject(json);
  switch (object.type) {
    case UnlockConditionType.StorageDepositReturn:
      return {
        type: object.type,
        returnAddress: part(object, 'returnAddress', readAddress),
        amount: uint64(object, 'amount'),
      };
    case UnlockConditionType.Timelock:
      return { type: object.type, unixTime: integer(object, 'unixTime') };
    case UnlockConditionType.Expiration:
      return {
        type: object.type,
        returnAddress: part(object, 'returnAddress', readAddress),
        unixTime: integer(object, 'unixTime'),
      };
    case UnlockConditionType.ImmutableAlias:
      return { type: object.type, address: part(object, 'address', readAliasAddress) };
    case UnlockConditionType.Address:
    case UnlockConditionType.StateController:
    case UnlockConditionType.Governor:
      return { type: object.type, address: part(object, 'address', readAddress) };
    default:
      throw unknownType('unlock condition', object);
  }
}

function readFeature(json: unknown): Feature {
  const object = asObject(json);
  switch (object.type) {
    case FeatureType.Sender:
    case FeatureType.Issuer:
      return { type: object.type, address: part(object, 'address', readAddress) };
    case FeatureType.Metadata:
      return { type: object.type, data: bytes(object, 'data') };
    case FeatureType.Tag:
      return { type: object.type, tag: bytes(object, 'tag') };
    default:
      throw unknownType('feature', object);
  }
}

function readAddress(json: unknown): Address {
  const object = asObject(json);
  switch (object.type) {
    case AddressType.Ed25519:
      return readEd25519Address(object);
    case AddressType.Alias:
      return readAliasAddress(object);
    case AddressType.Nft:
      return { type: object.type, id: id(object, 'nftId') };
    default:
      throw unknownType('address', object);
  }
}

function readEd25519Address(json: unknown): Ed25519Address {
  const object = asObject(json);
  return { type: only(AddressType.Ed25519, object), id: id(object, 'pubKeyHash') };
}

function readAliasAddress(json: unknown): AliasAddress {
  const object = asObject(json);
  return { type: only(AddressType.Alias, object), id: id(object, 'aliasId') };
}

/**
 * A milestone payload. Throws a {@link StardustError} if the JSON does not have the form of one.
 */
export function milestoneFromJson(json: unknown): Milestone {
  return readWhole(json, readMilestone);
}

function readMilestone(json: unknown): Milestone {
  const object = asObject(json);
  return {
    type: only(7, object),
    index: integer(object, 'index'),
    timestamp: integer(object, 'timestamp'),
    protocolVersion: integer(object, 'protocolVersion', 0xff),
    previousMilestoneId: id(object, 'previousMilestoneId'),
    parents: ids(object, 'parents'),
    inclusionMerkleRoot: id(object, 'inclusionMerkleRoot'),
    appliedMerkleRoot: id(object, 'appliedMerkleRoot'),
    metadata: optionalBytes(object, 'metadata'),
    options: parts(object, 'options', readOption),
    signatures: parts(object, 'signatures', readSignature),
  };
}

function readOption(json: unknown): MilestoneOption {
  const object = asObject(json);
  switch (object.type) {
    case 0:
      return readReceipt(object);
    case 1:
      return {
        type: object.type,
        targetMilestoneIndex: integer(object, 'targetMilestoneIndex'),
        protocolVersion: integer(object, 'protocolVersion', 0xff),
        parameters: bytes(object, 'params'),
      };
    default:
      throw unknownType('milestone option', object);
  }
}

function readReceipt(object: JsonObject): MilestoneOption {
  const transaction = asObject(object.transaction);
  const input = asObject(transaction.input);
  const output = asObject(transaction.output);
  return {
    type: 0,
    migratedAt: integer(object, 'migratedAt'),
    final: flag(object, 'final'),
    funds: parts(object, 'funds', (json) => {
      const fund = asObject(json);
      return {
        tailTransactionHash: id(fund, 'tailTransactionHash', 49),
        address: part(fund, 'address', readEd25519Address),
        deposit: uint64(fund, 'deposit'),
      };
    }),
    transaction: {
      type: only(4, transaction),
      input: { type: only(1, input), milestoneId: id(input, 'milestoneId') },
      output: { type: only(2, output), amount: uint64(output, 'amount') },
    },
  };
}

function only<const T extends number>(type: T, object: JsonObject): T {
  if (object.type !== type) throw unknownType('object', object);
  return type;
}

function unknownType(what: string, { type }: JsonObject): StardustError {
  return new StardustError('TIP-25', `${what} of type ${JSON.stringify(type)}`);
}

/** Bytes of a fixed length, by default 32. */
function id(object: JsonObject, field: string, length = 32): Uint8Array {
  const value = bytes(object, field);
  if (value.length !== length)
    throw new StardustError('TIP-25', `"${field}" has ${value.length} bytes, not ${length}`);
  return value;
}

function ids(object: JsonObject, field: string): Uint8Array[] {
  return array(object, field).map((value) => id({ [field]: value }, field));
}

/** Left out when empty. */
function optionalBytes(object: JsonObject, field: string): Uint8Array {
  return isAbsent(object[field]) ? new Uint8Array() : bytes(object, field);
}

function uint64(object: JsonObject, field: string): bigint {
  return unsigned(object, field, /^\d{1,20}$/, 64);
}

function uint256(object: JsonObject, field: string): bigint {
  return unsigned(object, field, /^0x(?:0|[1-9a-fA-F][0-9a-fA-F]{0,63})$/, 256);
}

function unsigned(object: JsonObject, field: string, form: RegExp, bits: number): bigint {
  const digits = text(object, field);
  if (!form.test(digits) || BigInt(digits) >= 1n << BigInt(bits))
    throw new StardustError('TIP-25', `"${field}" is no uint${bits}`);
  return BigInt(digits);
}
