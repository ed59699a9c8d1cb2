/**
 * The JSON in which HORNET's REST names blocks, outputs and milestones (TIP-0025): 64-bit numbers as decimal text, 256-bit ones and bytes as
 * `0x…`, and what is empty left out. The order of the keys is the reference's too; test/vectors/parsing.jsonl is the proof.
 */
import { type Address, AddressType } from '../../../src/stardust/address.ts';
import type { Block, Payload } from '../../../src/stardust/block.ts';
import { toHex } from '../../../src/stardust/bytes.ts';
import { type Feature, FeatureType } from '../../../src/stardust/feature.ts';
import type { Milestone, MilestoneOption } from '../../../src/stardust/milestone.ts';
import { type Output, OutputType } from '../../../src/stardust/output.ts';
import type { ProtocolParameters } from '../../../src/stardust/parameters.ts';
import type { TaggedData } from '../../../src/stardust/tagged-data.ts';
import type { Transaction } from '../../../src/stardust/transaction.ts';
import { type Ed25519Signature, type Unlock, UnlockType } from '../../../src/stardust/unlock.ts';
import {
  type UnlockCondition,
  UnlockConditionType,
} from '../../../src/stardust/unlock-condition.ts';

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
type JsonObject = { [key: string]: Json };

const hexNumber = (value: bigint): string => `0x${value.toString(16)}`;

/** `{name: value}`, or nothing where the value is empty (Go's "omitempty"). */
function unlessEmpty(name: string, value: Json[] | Uint8Array | undefined): JsonObject {
  if (value === undefined || value.length === 0) return {};
  return { [name]: value instanceof Uint8Array ? toHex(value) : value };
}

export function blockJson({ protocolVersion, parents, payload, nonce }: Block): Json {
  return {
    protocolVersion,
    parents: parents.map(toHex),
    ...(payload === undefined ? {} : { payload: payloadJson(payload) }),
    nonce: `${nonce}`,
  };
}

function payloadJson(payload: Payload): Json {
  switch (payload.type) {
    case 5:
      return taggedDataJson(payload);
    case 6:
      return transactionJson(payload);
    case 7:
      return milestoneJson(payload);
  }
}

function taggedDataJson({ type, tag, data }: TaggedData): Json {
  return { type, ...unlessEmpty('tag', tag), ...unlessEmpty('data', data) };
}

function transactionJson({ type, essence, unlocks }: Transaction): Json {
  return {
    type,
    essence: {
      type: essence.type,
      networkId: `${essence.networkId}`,
      inputs: essence.inputs.map((input) => ({
        type: input.type,
        transactionId: toHex(input.transactionId),
        transactionOutputIndex: input.outputIndex,
      })),
      inputsCommitment: toHex(essence.inputsCommitment),
      outputs: essence.outputs.map(outputJson),
      ...(essence.payload === undefined ? {} : { payload: taggedDataJson(essence.payload) }),
    },
    unlocks: unlocks.map(unlockJson),
  };
}

function unlockJson(unlock: Unlock): Json {
  if (unlock.type === UnlockType.Signature)
    return { type: unlock.type, signature: signatureJson(unlock.signature) };
  return { type: unlock.type, reference: unlock.reference };
}

function signatureJson({ type, publicKey, signature }: Ed25519Signature): Json {
  return { type, publicKey: toHex(publicKey), signature: toHex(signature) };
}

export function outputJson(output: Output): Json {
  const { type } = output;
  const nativeTokens = output.nativeTokens.map(({ id, amount }) => ({
    id: toHex(id),
    amount: hexNumber(amount),
  }));
  const head = { type, amount: `${output.amount}`, ...unlessEmpty('nativeTokens', nativeTokens) };
  const tail = {
    unlockConditions: output.unlockConditions.map(conditionJson),
    ...unlessEmpty('features', output.features.map(featureJson)),
    ...('immutableFeatures' in output
      ? unlessEmpty('immutableFeatures', output.immutableFeatures.map(featureJson))
      : {}),
  };
  switch (type) {
    case OutputType.Basic:
      return { ...head, ...tail };
    case OutputType.Alias: {
      const { aliasId, stateIndex, stateMetadata, foundryCounter } = output;
      const state = {
        aliasId: toHex(aliasId),
        stateIndex,
        ...unlessEmpty('stateMetadata', stateMetadata),
      };
      return { ...head, ...state, foundryCounter, ...tail };
    }
    case OutputType.Foundry: {
      const { serialNumber, tokenScheme } = output;
      const scheme = {
        type: tokenScheme.type,
        mintedTokens: hexNumber(tokenScheme.minted),
        meltedTokens: hexNumber(tokenScheme.melted),
        maximumSupply: hexNumber(tokenScheme.maximumSupply),
      };
      return { ...head, serialNumber, tokenScheme: scheme, ...tail };
    }
    case OutputType.Nft:
      return { ...head, nftId: toHex(output.nftId), ...tail };
  }
}

function conditionJson(condition: UnlockCondition): Json {
  const { type } = condition;
  switch (type) {
    case UnlockConditionType.StorageDepositReturn:
      return {
        type,
        returnAddress: addressJson(condition.returnAddress),
        amount: `${condition.amount}`,
      };
    case UnlockConditionType.Timelock:
      return { type, unixTime: condition.unixTime };
    case UnlockConditionType.Expiration:
      return {
        type,
        returnAddress: addressJson(condition.returnAddress),
        unixTime: condition.unixTime,
      };
    default:
      return { type, address: addressJson(condition.address) };
  }
}

function featureJson(feature: Feature): Json {
  const { type } = feature;
  switch (type) {
    case FeatureType.Metadata:
      return { type, data: toHex(feature.data) };
    case FeatureType.Tag:
      return { type, tag: toHex(feature.tag) };
    default:
      return { type, address: addressJson(feature.address) };
  }
}

function addressJson({ type, id }: Address): Json {
  switch (type) {
    case AddressType.Ed25519:
      return { type, pubKeyHash: toHex(id) };
    case AddressType.Alias:
      return { type, aliasId: toHex(id) };
    case AddressType.Nft:
      return { type, nftId: toHex(id) };
  }
}

export function milestoneJson(milestone: Milestone): Json {
  return {
    type: milestone.type,
    index: milestone.index,
    timestamp: milestone.timestamp,
    protocolVersion: milestone.protocolVersion,
    previousMilestoneId: toHex(milestone.previousMilestoneId),
    parents: milestone.parents.map(toHex),
    inclusionMerkleRoot: toHex(milestone.inclusionMerkleRoot),
    appliedMerkleRoot: toHex(milestone.appliedMerkleRoot),
    ...unlessEmpty('metadata', milestone.metadata),
    ...unlessEmpty('options', milestone.options.map(optionJson)),
    signatures: milestone.signatures.map(signatureJson),
  };
}

export function optionJson(option: MilestoneOption): Json {
  if (option.type === 1) {
    const { type, targetMilestoneIndex, protocolVersion, parameters } = option;
    return { type, targetMilestoneIndex, protocolVersion, params: toHex(parameters) };
  }
  const { type, migratedAt, funds, transaction, final } = option;
  return {
    type,
    migratedAt,
    funds: funds.map(({ tailTransactionHash, address, deposit }) => ({
      tailTransactionHash: toHex(tailTransactionHash),
      address: addressJson(address),
      deposit: `${deposit}`,
    })),
    transaction: {
      type: transaction.type,
      input: { type: transaction.input.type, milestoneId: toHex(transaction.input.milestoneId) },
      output: { type: transaction.output.type, amount: `${transaction.output.amount}` },
    },
    final,
  };
}

export function parametersJson(parameters: ProtocolParameters): Json {
  const {
    version,
    networkName,
    bech32Hrp,
    minPowScore,
    belowMaxDepth,
    rentStructure,
    tokenSupply,
  } = parameters;
  const { vByteCost, vByteFactorData, vByteFactorKey } = rentStructure;
  const rent = { vByteCost, vByteFactorData, vByteFactorKey };
  const names = { version, networkName, bech32Hrp };
  return {
    ...names,
    minPowScore,
    belowMaxDepth,
    rentStructure: rent,
    tokenSupply: `${tokenSupply}`,
  };
}
