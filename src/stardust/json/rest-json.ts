/**
 * Blocks, outputs and milestones as the REST API shows them (TIP-0025; iota.go v3.0.0-rc.3). Byte
 * strings are hex in lower case, uint64 is decimal text, uint256 hex without leading zeros.
 * Optional lists and byte strings are left out when empty; a required empty byte string is the
 * empty text. Fields come in the reference's order.
 */

import { toHex } from '../encoding/bytes.ts';
import { type Address, AddressType } from '../wire/address.ts';
import type { Block, Payload } from '../wire/block.ts';
import { type Feature, FeatureType } from '../wire/feature.ts';
import type { MigratedFunds, Milestone, MilestoneOption } from '../wire/milestone.ts';
import {
  type NativeToken,
  type Output,
  OutputType,
  type SimpleTokenScheme,
} from '../wire/output.ts';
import type { Input, TaggedData, Transaction, TransactionEssence } from '../wire/transaction.ts';
import { type Ed25519Signature, type Unlock, UnlockType } from '../wire/unlock.ts';
import { type UnlockCondition, UnlockConditionType } from '../wire/unlock-condition.ts';

export type Json = string | number | boolean | readonly Json[] | RestObject;
export interface RestObject {
  readonly [field: string]: Json;
}

export function blockToJson({ protocolVersion, parents, payload, nonce }: Block): RestObject {
  return {
    protocolVersion,
    parents: parents.map(toHex),
    ...(payload === undefined ? {} : { payload: payloadToJson(payload) }),
    nonce: `${nonce}`,
  };
}

function payloadToJson(payload: Payload): RestObject {
  switch (payload.type) {
    case 5:
      return taggedDataToJson(payload);
    case 6:
      return transactionToJson(payload);
    case 7:
      return milestoneToJson(payload);
  }
}

function taggedDataToJson({ type, tag, data }: TaggedData): RestObject {
  return {
    type,
    ...unlessEmpty('tag', bytesToJson(tag)),
    ...unlessEmpty('data', bytesToJson(data)),
  };
}

function transactionToJson({ type, essence, unlocks }: Transaction): RestObject {
  return { type, essence: essenceToJson(essence), unlocks: unlocks.map(unlockToJson) };
}

function essenceToJson({
  type,
  networkId,
  inputs,
  inputsCommitment,
  outputs,
  payload,
}: TransactionEssence): RestObject {
  return {
    type,
    networkId: `${networkId}`,
    inputs: inputs.map(inputToJson),
    inputsCommitment: toHex(inputsCommitment),
    outputs: outputs.map(outputToJson),
    ...(payload === undefined ? {} : { payload: taggedDataToJson(payload) }),
  };
}

function inputToJson({ type, transactionId, outputIndex }: Input): RestObject {
  return { type, transactionId: toHex(transactionId), transactionOutputIndex: outputIndex };
}

function unlockToJson(unlock: Unlock): RestObject {
  const { type } = unlock;
  return type === UnlockType.Signature
    ? { type, signature: signatureToJson(unlock.signature) }
    : { type, reference: unlock.reference };
}

function signatureToJson({ type, publicKey, signature }: Ed25519Signature): RestObject {
  return { type, publicKey: toHex(publicKey), signature: toHex(signature) };
}

export function outputToJson(output: Output): RestObject {
  const { type, amount, nativeTokens, unlockConditions, features } = output;
  return {
    type,
    amount: `${amount}`,
    ...unlessEmpty('nativeTokens', nativeTokens.map(nativeTokenToJson)),
    ...stateToJson(output),
    ...unlessEmpty('unlockConditions', unlockConditions.map(unlockConditionToJson)),
    ...unlessEmpty('features', features.map(featureToJson)),
    ...(type === OutputType.Basic
      ? {}
      : unlessEmpty('immutableFeatures', output.immutableFeatures.map(featureToJson))),
  };
}

/** The fields that only one type of output has. */
function stateToJson(output: Output): RestObject {
  switch (output.type) {
    case OutputType.Basic:
      return {};
    case OutputType.Alias:
      return {
        aliasId: toHex(output.aliasId),
        stateIndex: output.stateIndex,
        ...unlessEmpty('stateMetadata', bytesToJson(output.stateMetadata)),
        foundryCounter: output.foundryCounter,
      };
    case OutputType.Foundry:
      return {
        serialNumber: output.serialNumber,
        tokenScheme: tokenSchemeToJson(output.tokenScheme),
      };
    case OutputType.Nft:
      return { nftId: toHex(output.nftId) };
  }
}

function nativeTokenToJson({ id, amount }: NativeToken): RestObject {
  return { id: toHex(id), amount: uint256ToJson(amount) };
}

function tokenSchemeToJson({ type, minted, melted, maximumSupply }: SimpleTokenScheme): RestObject {
  return {
    type,
    mintedTokens: uint256ToJson(minted),
    meltedTokens: uint256ToJson(melted),
    maximumSupply: uint256ToJson(maximumSupply),
  };
}

function unlockConditionToJson(condition: UnlockCondition): RestObject {
  const { type } = condition;
  switch (type) {
    case UnlockConditionType.StorageDepositReturn:
      return {
        type,
        returnAddress: addressToJson(condition.returnAddress),
        amount: `${condition.amount}`,
      };
    case UnlockConditionType.Timelock:
      return { type, unixTime: condition.unixTime };
    case UnlockConditionType.Expiration:
      return {
        type,
        returnAddress: addressToJson(condition.returnAddress),
        unixTime: condition.unixTime,
      };
    default:
      return { type, address: addressToJson(condition.address) };
  }
}

function featureToJson(feature: Feature): RestObject {
  const { type } = feature;
  switch (type) {
    case FeatureType.Metadata:
      return { type, data: toHex(feature.data) };
    case FeatureType.Tag:
      return { type, tag: toHex(feature.tag) };
    default:
      return { type, address: addressToJson(feature.address) };
  }
}

function addressToJson({ type, id }: Address): RestObject {
  switch (type) {
    case AddressType.Ed25519:
      return { type, pubKeyHash: toHex(id) };
    case AddressType.Alias:
      return { type, aliasId: toHex(id) };
    case AddressType.Nft:
      return { type, nftId: toHex(id) };
  }
}

/** A milestone payload. */
export function milestoneToJson(milestone: Milestone): RestObject {
  return {
    type: milestone.type,
    index: milestone.index,
    timestamp: milestone.timestamp,
    protocolVersion: milestone.protocolVersion,
    previousMilestoneId: toHex(milestone.previousMilestoneId),
    parents: milestone.parents.map(toHex),
    inclusionMerkleRoot: toHex(milestone.inclusionMerkleRoot),
    appliedMerkleRoot: toHex(milestone.appliedMerkleRoot),
    ...unlessEmpty('metadata', bytesToJson(milestone.metadata)),
    ...unlessEmpty('options', milestone.options.map(optionToJson)),
    signatures: milestone.signatures.map(signatureToJson),
  };
}

export function optionToJson(option: MilestoneOption): RestObject {
  const { type } = option;
  if (type === 1) {
    const { targetMilestoneIndex, protocolVersion, parameters } = option;
    return { type, targetMilestoneIndex, protocolVersion, params: bytesToJson(parameters) };
  }
  const { migratedAt, funds, final, transaction } = option;
  const { input, output } = transaction;
  return {
    type,
    migratedAt,
    funds: funds.map(migratedFundsToJson),
    transaction: {
      type: transaction.type,
      input: { type: input.type, milestoneId: toHex(input.milestoneId) },
      output: { type: output.type, amount: `${output.amount}` },
    },
    final,
  };
}

function migratedFundsToJson({ tailTransactionHash, address, deposit }: MigratedFunds): RestObject {
  return {
    tailTransactionHash: toHex(tailTransactionHash),
    address: addressToJson(address),
    deposit: `${deposit}`,
  };
}

/** The states that TIP-25 names; `reason` is undefined where there is no transaction. */
export function inclusionStateToJson(reason: number | undefined): RestObject {
  if (reason === undefined) return { ledgerInclusionState: 'noTransaction' };
  if (reason === 0) return { ledgerInclusionState: 'included' };
  return { ledgerInclusionState: 'conflicting', conflictReason: reason };
}

/** Hex, but the empty text where there are no bytes. */
function bytesToJson(bytes: Uint8Array): string {
  return bytes.length === 0 ? '' : toHex(bytes);
}

/** Hex of the number, not of its bytes: no leading zeros. */
function uint256ToJson(value: bigint): string {
  return `0x${value.toString(16)}`;
}

function unlessEmpty(field: string, value: string | readonly Json[]): RestObject {
  return value.length === 0 ? {} : { [field]: value };
}
