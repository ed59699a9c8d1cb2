/**
 * Blocks, outputs and milestones as the REST API shows them, and as proof files hold them (TIP-25;
 * iota.go v3.0.0-rc.3). Byte strings are hex in lower case, uint64 is decimal text, uint256 hex
 * without leading zeros. Optional lists and byte strings are left out when empty; a required empty
 * byte string is the empty text. Fields come in the reference's order. Reading checks the form only,
 * and that nothing is lost: encode the result and parse that.
 */
import {
  byType,
  byteText,
  type Field,
  type Form,
  form,
  hash,
  hashes,
  type Json,
  listOf,
  of,
  only,
  optional,
  optionalBytes,
  type RestObject,
  renamed,
  truth,
  uint64,
  uint256,
  unlessEmpty,
  unsigned,
} from '../encoding/json-form.ts';
import { readWhole } from '../encoding/json-object.ts';
import type { Address, AliasAddress, Ed25519Address, NftAddress } from '../wire/address.ts';
import type { Block, Payload } from '../wire/block.ts';
import type { Feature, MetadataFeature, TagFeature } from '../wire/feature.ts';
import type {
  MigratedFunds,
  Milestone,
  MilestoneOption,
  ProtocolParametersOption,
  ReceiptOption,
  TreasuryTransaction,
} from '../wire/milestone.ts';
import type {
  AliasOutput,
  BasicOutput,
  FoundryOutput,
  NativeToken,
  NftOutput,
  Output,
  SimpleTokenScheme,
} from '../wire/output.ts';
import type { Input, TaggedData, Transaction, TransactionEssence } from '../wire/transaction.ts';
import type { Ed25519Signature, SignatureUnlock, Unlock } from '../wire/unlock.ts';
import type {
  ExpirationCondition,
  StorageDepositReturnCondition,
  TimelockCondition,
  UnlockCondition,
} from '../wire/unlock-condition.ts';

export type { Json, RestObject };

const ed25519Address = form<Ed25519Address>({ type: only(0), id: renamed('pubKeyHash', hash()) });
const aliasAddress = form<AliasAddress>({ type: only(8), id: renamed('aliasId', hash()) });
const nftAddress = form<NftAddress>({ type: only(16), id: renamed('nftId', hash()) });
const address: Form<Address> = byType<Address>('address', {
  0: ed25519Address,
  8: aliasAddress,
  16: nftAddress,
});

// @__NO_SIDE_EFFECTS__
function withAddress<const T extends number>(type: T): Form<{ type: T; address: Address }> {
  return form<{ type: T; address: Address }>({ type: only(type), address: of(address) });
}

const feature = byType<Feature>('feature', {
  0: withAddress(0),
  1: withAddress(1),
  2: form<MetadataFeature>({ type: only(2), data: byteText }),
  3: form<TagFeature>({ type: only(3), tag: byteText }),
});
const features: Field<Feature[]> = unlessEmpty(listOf(feature));

const unlockCondition = byType<UnlockCondition>('unlock condition', {
  0: withAddress(0),
  1: form<StorageDepositReturnCondition>({
    type: only(1),
    returnAddress: of(address),
    amount: uint64,
  }),
  2: form<TimelockCondition>({ type: only(2), unixTime: unsigned() }),
  3: form<ExpirationCondition>({
    type: only(3),
    returnAddress: of(address),
    unixTime: unsigned(),
  }),
  4: withAddress(4),
  5: withAddress(5),
  6: form<{ type: 6; address: AliasAddress }>({ type: only(6), address: of(aliasAddress) }),
});
const unlockConditions = unlessEmpty(listOf(unlockCondition));

const nativeToken = form<NativeToken>({ id: hash(38), amount: uint256 });
const nativeTokens = unlessEmpty(listOf(nativeToken));

const tokenScheme = form<SimpleTokenScheme>({
  type: only(0),
  minted: renamed('mintedTokens', uint256),
  melted: renamed('meltedTokens', uint256),
  maximumSupply: uint256,
});

const output = byType<Output>('output', {
  3: form<BasicOutput>({
    type: only(3),
    amount: uint64,
    nativeTokens,
    unlockConditions,
    features,
  }),
  4: form<AliasOutput>({
    type: only(4),
    amount: uint64,
    nativeTokens,
    aliasId: hash(),
    stateIndex: unsigned(),
    stateMetadata: optionalBytes,
    foundryCounter: unsigned(),
    unlockConditions,
    features,
    immutableFeatures: features,
  }),
  5: form<FoundryOutput>({
    type: only(5),
    amount: uint64,
    nativeTokens,
    serialNumber: unsigned(),
    tokenScheme: of(tokenScheme),
    unlockConditions,
    features,
    immutableFeatures: features,
  }),
  6: form<NftOutput>({
    type: only(6),
    amount: uint64,
    nativeTokens,
    nftId: hash(),
    unlockConditions,
    features,
    immutableFeatures: features,
  }),
});

const taggedData = form<TaggedData>({ type: only(5), tag: optionalBytes, data: optionalBytes });

const input = form<Input>({
  type: only(0),
  transactionId: hash(),
  outputIndex: renamed('transactionOutputIndex', unsigned(0xffff)),
});

const essence = form<TransactionEssence>({
  type: only(1),
  networkId: uint64,
  inputs: listOf(input),
  inputsCommitment: hash(),
  outputs: listOf(output),
  payload: optional(of(taggedData)),
});

const signature = form<Ed25519Signature>({
  type: only(0),
  publicKey: hash(),
  signature: hash(64),
});

// @__NO_SIDE_EFFECTS__
function referring<const T extends number>(type: T): Form<{ type: T; reference: number }> {
  return form<{ type: T; reference: number }>({ type: only(type), reference: unsigned(0xffff) });
}

const unlock = byType<Unlock>('unlock', {
  0: form<SignatureUnlock>({ type: only(0), signature: of(signature) }),
  1: referring(1),
  2: referring(2),
  3: referring(3),
});

const transaction = form<Transaction>({
  type: only(6),
  essence: of(essence),
  unlocks: listOf(unlock),
});

const migratedFunds = form<MigratedFunds>({
  tailTransactionHash: hash(49),
  address: of(ed25519Address),
  deposit: uint64,
});

const treasuryTransaction = form<TreasuryTransaction>({
  type: only(4),
  input: of(form<TreasuryTransaction['input']>({ type: only(1), milestoneId: hash() })),
  output: of(form<TreasuryTransaction['output']>({ type: only(2), amount: uint64 })),
});

const option = byType<MilestoneOption>('milestone option', {
  0: form<ReceiptOption>({
    type: only(0),
    migratedAt: unsigned(),
    funds: listOf(migratedFunds),
    transaction: of(treasuryTransaction),
    final: truth,
  }),
  1: form<ProtocolParametersOption>({
    type: only(1),
    targetMilestoneIndex: unsigned(),
    protocolVersion: unsigned(0xff),
    parameters: renamed('params', byteText),
  }),
});

const milestone = form<Milestone>({
  type: only(7),
  index: unsigned(),
  timestamp: unsigned(),
  protocolVersion: unsigned(0xff),
  previousMilestoneId: hash(),
  parents: hashes,
  inclusionMerkleRoot: hash(),
  appliedMerkleRoot: hash(),
  metadata: optionalBytes,
  options: unlessEmpty(listOf(option)),
  signatures: listOf(signature),
});

const block = form<Block>({
  protocolVersion: unsigned(0xff),
  parents: hashes,
  payload: optional(
    of(byType<Payload>('payload', { 5: taggedData, 6: transaction, 7: milestone })),
  ),
  nonce: uint64,
});

export const blockToJson: (value: Block) => RestObject = block.toJson;
export const outputToJson: (value: Output) => RestObject = output.toJson;
export const milestoneToJson: (value: Milestone) => RestObject = milestone.toJson;
export const optionToJson: (value: MilestoneOption) => RestObject = option.toJson;

/**
 * A block. Throws a {@link StardustError} if the JSON does not have the form of one; it may break
 * any other rule.
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
  return readWhole(json, block.fromJson);
}

/** An output. Throws a {@link StardustError} if the JSON does not have the form of one. */
export function outputFromJson(json: unknown): Output {
  return readWhole(json, output.fromJson);
}

/**
 * A milestone payload. Throws a {@link StardustError} if the JSON does not have the form of one.
 */
export function milestoneFromJson(json: unknown): Milestone {
  return readWhole(json, milestone.fromJson);
}

/** The states that TIP-25 names; `reason` is undefined where there is no transaction. */
export function inclusionStateToJson(reason: number | undefined): RestObject {
  if (reason === undefined) return { ledgerInclusionState: 'noTransaction' };
  if (reason === 0) return { ledgerInclusionState: 'included' };
  return { ledgerInclusionState: 'conflicting', conflictReason: reason };
}
