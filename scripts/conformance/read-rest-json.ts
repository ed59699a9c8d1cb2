/**
 * Blocks and milestones from their REST form, the way back of src/stardust/rest-json.ts (TIP-0025): proof files hold them so.
 *
 * Only the form is looked at here. What comes out may break any rule: encode it and parse that.
 */
import {
  type Address,
  AddressType,
  type AliasAddress,
  type Ed25519Address,
} from '../../src/stardust/address.ts';
import type { Block, Payload } from '../../src/stardust/block.ts';
import { type Feature, FeatureType } from '../../src/stardust/feature.ts';
import type { Milestone, MilestoneOption } from '../../src/stardust/milestone.ts';
import {
  type NativeToken,
  type Output,
  OutputType,
  type SimpleTokenScheme,
} from '../../src/stardust/output.ts';
import type { TaggedData } from '../../src/stardust/tagged-data.ts';
import type { Input, Transaction } from '../../src/stardust/transaction.ts';
import { type Ed25519Signature, type Unlock, UnlockType } from '../../src/stardust/unlock.ts';
import { type UnlockCondition, UnlockConditionType } from '../../src/stardust/unlock-condition.ts';
import { asLine, BadVector, bytes, flag, integer, type Line, list, text } from './line.ts';

/** Throws a {@link BadVector} if the JSON does not have the form of a block. */
export function readBlock(json: unknown): Block {
  const line = asLine(json);
  return {
    protocolVersion: integer(line, 'protocolVersion', 0xff),
    parents: ids(line, 'parents'),
    payload: line.payload === undefined ? undefined : readPayload(line.payload),
    nonce: uint64(line, 'nonce'),
  };
}

function readPayload(json: unknown): Payload {
  const line = asLine(json);
  switch (line.type) {
    case 5:
      return readTaggedData(line);
    case 6:
      return readTransaction(line);
    case 7:
      return readMilestone(line);
    default:
      throw unknownType('payload', line);
  }
}

function readTaggedData(json: unknown): TaggedData {
  const line = asLine(json);
  return {
    type: only(5, line),
    tag: optionalBytes(line, 'tag'),
    data: optionalBytes(line, 'data'),
  };
}

function readTransaction(line: Line): Transaction {
  const essence = asLine(line.essence);
  return {
    type: 6,
    essence: {
      type: only(1, essence),
      networkId: uint64(essence, 'networkId'),
      inputs: list(essence, 'inputs').map(readInput),
      inputsCommitment: id(essence, 'inputsCommitment'),
      outputs: list(essence, 'outputs').map(readOutput),
      payload: essence.payload === undefined ? undefined : readTaggedData(essence.payload),
    },
    unlocks: list(line, 'unlocks').map(readUnlock),
  };
}

function readInput(json: unknown): Input {
  const line = asLine(json);
  return {
    type: only(0, line),
    transactionId: id(line, 'transactionId'),
    outputIndex: integer(line, 'transactionOutputIndex', 0xffff),
  };
}

function readUnlock(json: unknown): Unlock {
  const line = asLine(json);
  switch (line.type) {
    case UnlockType.Signature:
      return { type: line.type, signature: readSignature(line.signature) };
    case UnlockType.Reference:
    case UnlockType.Alias:
    case UnlockType.Nft:
      return { type: line.type, reference: integer(line, 'reference', 0xffff) };
    default:
      throw unknownType('unlock', line);
  }
}

function readSignature(json: unknown): Ed25519Signature {
  const line = asLine(json);
  return {
    type: only(0, line),
    publicKey: id(line, 'publicKey'),
    signature: id(line, 'signature', 64),
  };
}

function readOutput(json: unknown): Output {
  const line = asLine(json);
  const common = {
    amount: uint64(line, 'amount'),
    nativeTokens: list(line, 'nativeTokens').map(readNativeToken),
    unlockConditions: list(line, 'unlockConditions').map(readUnlockCondition),
    features: list(line, 'features').map(readFeature),
  };
  const immutableFeatures = list(line, 'immutableFeatures').map(readFeature);
  switch (line.type) {
    case OutputType.Basic:
      return { type: line.type, ...common };
    case OutputType.Alias:
      return {
        type: line.type,
        ...common,
        aliasId: id(line, 'aliasId'),
        stateIndex: integer(line, 'stateIndex'),
        stateMetadata: optionalBytes(line, 'stateMetadata'),
        foundryCounter: integer(line, 'foundryCounter'),
        immutableFeatures,
      };
    case OutputType.Foundry:
      return {
        type: line.type,
        ...common,
        serialNumber: integer(line, 'serialNumber'),
        tokenScheme: readTokenScheme(line.tokenScheme),
        immutableFeatures,
      };
    case OutputType.Nft:
      return { type: line.type, ...common, nftId: id(line, 'nftId'), immutableFeatures };
    default:
      throw unknownType('output', line);
  }
}

function readNativeToken(json: unknown): NativeToken {
  const line = asLine(json);
  return { id: id(line, 'id', 38), amount: uint256(line, 'amount') };
}

function readTokenScheme(json: unknown): SimpleTokenScheme {
  const line = asLine(json);
  return {
    type: only(0, line),
    minted: uint256(line, 'mintedTokens'),
    melted: uint256(line, 'meltedTokens'),
    maximumSupply: uint256(line, 'maximumSupply'),
  };
}

function readUnlockCondition(json: unknown): UnlockCondition {
  const line = asLine(json);
  switch (line.type) {
    case UnlockConditionType.StorageDepositReturn:
      return {
        type: line.type,
        returnAddress: readAddress(line.returnAddress),
        amount: uint64(line, 'amount'),
      };
    case UnlockConditionType.Timelock:
      return { type: line.type, unixTime: integer(line, 'unixTime') };
    case UnlockConditionType.Expiration:
      return {
        type: line.type,
        returnAddress: readAddress(line.returnAddress),
        unixTime: integer(line, 'unixTime'),
      };
    case UnlockConditionType.ImmutableAlias:
      return { type: line.type, address: readAliasAddress(line.address) };
    case UnlockConditionType.Address:
    case UnlockConditionType.StateController:
    case UnlockConditionType.Governor:
      return { type: line.type, address: readAddress(line.address) };
    default:
      throw unknownType('unlock condition', line);
  }
}

function readFeature(json: unknown): Feature {
  const line = asLine(json);
  switch (line.type) {
    case FeatureType.Sender:
    case FeatureType.Issuer:
      return { type: line.type, address: readAddress(line.address) };
    case FeatureType.Metadata:
      return { type: line.type, data: bytes(line, 'data') };
    case FeatureType.Tag:
      return { type: line.type, tag: bytes(line, 'tag') };
    default:
      throw unknownType('feature', line);
  }
}

function readAddress(json: unknown): Address {
  const line = asLine(json);
  switch (line.type) {
    case AddressType.Ed25519:
      return readEd25519Address(line);
    case AddressType.Alias:
      return readAliasAddress(line);
    case AddressType.Nft:
      return { type: line.type, id: id(line, 'nftId') };
    default:
      throw unknownType('address', line);
  }
}

function readEd25519Address(json: unknown): Ed25519Address {
  const line = asLine(json);
  return { type: only(AddressType.Ed25519, line), id: id(line, 'pubKeyHash') };
}

function readAliasAddress(json: unknown): AliasAddress {
  const line = asLine(json);
  return { type: only(AddressType.Alias, line), id: id(line, 'aliasId') };
}

/** A milestone payload. Throws a {@link BadVector} if the JSON does not have the form of one. */
export function readMilestone(json: unknown): Milestone {
  const line = asLine(json);
  return {
    type: only(7, line),
    index: integer(line, 'index'),
    timestamp: integer(line, 'timestamp'),
    protocolVersion: integer(line, 'protocolVersion', 0xff),
    previousMilestoneId: id(line, 'previousMilestoneId'),
    parents: ids(line, 'parents'),
    inclusionMerkleRoot: id(line, 'inclusionMerkleRoot'),
    appliedMerkleRoot: id(line, 'appliedMerkleRoot'),
    metadata: optionalBytes(line, 'metadata'),
    options: list(line, 'options').map(readOption),
    signatures: list(line, 'signatures').map(readSignature),
  };
}

function readOption(json: unknown): MilestoneOption {
  const line = asLine(json);
  switch (line.type) {
    case 0:
      return readReceipt(line);
    case 1:
      return {
        type: line.type,
        targetMilestoneIndex: integer(line, 'targetMilestoneIndex'),
        protocolVersion: integer(line, 'protocolVersion', 0xff),
        parameters: bytes(line, 'params'),
      };
    default:
      throw unknownType('milestone option', line);
  }
}

function readReceipt(line: Line): MilestoneOption {
  const transaction = asLine(line.transaction);
  const input = asLine(transaction.input);
  const output = asLine(transaction.output);
  return {
    type: 0,
    migratedAt: integer(line, 'migratedAt'),
    final: flag(line, 'final'),
    funds: list(line, 'funds').map((json) => {
      const fund = asLine(json);
      return {
        tailTransactionHash: id(fund, 'tailTransactionHash', 49),
        address: readEd25519Address(fund.address),
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

function only<const T extends number>(type: T, line: Line): T {
  if (line.type !== type) throw unknownType('object', line);
  return type;
}

function unknownType(what: string, { type }: Line): BadVector {
  return new BadVector(`${what} of type ${JSON.stringify(type)}`);
}

/** Bytes of a fixed length, 32 if nothing else is said. */
function id(line: Line, field: string, length = 32): Uint8Array {
  const value = bytes(line, field);
  if (value.length !== length)
    throw new BadVector(`"${field}" has ${value.length} bytes, not ${length}`);
  return value;
}

function ids(line: Line, field: string): Uint8Array[] {
  return list(line, field).map((value) => id({ [field]: value }, field));
}

/** Left out when empty. */
function optionalBytes(line: Line, field: string): Uint8Array {
  return line[field] === undefined ? new Uint8Array() : bytes(line, field);
}

function uint64(line: Line, field: string): bigint {
  return unsigned(line, field, /^\d{1,20}$/, 64);
}

function uint256(line: Line, field: string): bigint {
  return unsigned(line, field, /^0x[0-9a-fA-F]{1,64}$/, 256);
}

function unsigned(line: Line, field: string, form: RegExp, bits: number): bigint {
  const digits = text(line, field);
  if (!form.test(digits) || BigInt(digits) >= 1n << BigInt(bits))
    throw new BadVector(`"${field}" is no uint${bits}`);
  return BigInt(digits);
}
