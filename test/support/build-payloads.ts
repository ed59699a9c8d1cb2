/**
 * Building outputs, transactions, blocks and milestones for tests, with real signatures.
 *
 * Whatever is not said takes a plain default: a million base tokens, no features, conditions in
 * order, a right commitment.
 */

import { ed25519 } from '@noble/curves/ed25519.js';
import { verifyZip215 } from '../../src/stardust/crypto/ed25519.ts';
import { blake2b256 } from '../../src/stardust/crypto/hash.ts';
import { concatBytes, Reader } from '../../src/stardust/encoding/bytes.ts';
import { decode, encode } from '../../src/stardust/encoding/codec.ts';
import type { ConflictReason } from '../../src/stardust/semantics/conflict-reason.ts';
import { judge, judgeOverTime } from '../../src/stardust/semantics/judge.ts';
import type {
  ConsumedOutput,
  JudgedTransaction,
} from '../../src/stardust/semantics/judged-transaction.ts';
import { type Address, AddressType, type Ed25519Address } from '../../src/stardust/wire/address.ts';
import { block, type Payload, parseBlock } from '../../src/stardust/wire/block.ts';
import { type Feature, FeatureType } from '../../src/stardust/wire/feature.ts';
import {
  ed25519AddressId,
  foundryId,
  inputsCommitment,
  milestoneId,
  networkId,
  outputBytes,
  outputId,
  signedDigest,
  transactionId,
} from '../../src/stardust/wire/ids.ts';
import { type Milestone, milestone } from '../../src/stardust/wire/milestone.ts';
import {
  type AliasOutput,
  type BasicOutput,
  type FoundryOutput,
  type NativeToken,
  type NftOutput,
  type Output,
  OutputType,
} from '../../src/stardust/wire/output.ts';
import { checkTransaction } from '../../src/stardust/wire/syntax.ts';
import type { TaggedData } from '../../src/stardust/wire/tagged-data.ts';
import { type Transaction, transaction } from '../../src/stardust/wire/transaction.ts';
import { type Unlock, UnlockType } from '../../src/stardust/wire/unlock.ts';
import {
  type UnlockCondition,
  UnlockConditionType,
} from '../../src/stardust/wire/unlock-condition.ts';

export const ZERO = new Uint8Array(32);
const NETWORK_NAME = 'private_tangle1';

/** 32 bytes that are the hash of a name. */
export function idOf(name: string): Uint8Array {
  return blake2b256(new TextEncoder().encode(name));
}

// Addresses and keys

export interface Signer {
  secretKey: Uint8Array;
  publicKey: Uint8Array;
  address: Ed25519Address;
}

export function signer(name: string): Signer {
  const secretKey = idOf(name);
  const publicKey = ed25519.getPublicKey(secretKey);
  return {
    secretKey,
    publicKey,
    address: { type: AddressType.Ed25519, id: ed25519AddressId(publicKey) },
  };
}

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

export const expiration = (returnAddress: Address, unixTime: number): UnlockCondition => ({
  type: UnlockConditionType.Expiration,
  returnAddress,
  unixTime,
});

export const depositReturn = (returnAddress: Address, amount: bigint): UnlockCondition => ({
  type: UnlockConditionType.StorageDepositReturn,
  returnAddress,
  amount,
});

export const sender = (address: Address): Feature => ({ type: FeatureType.Sender, address });
export const issuer = (address: Address): Feature => ({ type: FeatureType.Issuer, address });
export const metadata = (...data: number[]): Feature => ({
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

const ownedBy = (address: Address): UnlockCondition[] => [
  { type: UnlockConditionType.Address, address },
];

export function basic(owner: Address, more: More = {}): BasicOutput {
  return { type: OutputType.Basic, ...fields(ownedBy(owner), more) };
}

export function nft(
  owner: Address,
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
  stateController: Address,
  governor: Address,
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
    { type: UnlockConditionType.StateController, address: stateController },
    { type: UnlockConditionType.Governor, address: governor },
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

// Transactions

export const referTo = (reference: number): Unlock => ({ type: UnlockType.Reference, reference });
export const byAlias = (reference: number): Unlock => ({ type: UnlockType.Alias, reference });
export const byNft = (reference: number): Unlock => ({ type: UnlockType.Nft, reference });

export interface PlannedInput {
  output: Output;
  /** A signer signs; anything else stands as it is. */
  unlock: Signer | Unlock;
  /** 34 bytes; by default made up from the position. */
  id?: Uint8Array;
}

export interface TransactionPlan {
  inputs: PlannedInput[];
  outputs: Output[];
  commitment?: Uint8Array;
  networkId?: bigint;
  payload?: TaggedData;
  /** What is signed instead of the essence's hash, given the essence. */
  signed?: (essence: Uint8Array) => Uint8Array;
}

/** The made-up output ID of the input at a position. */
export function inputId(position: number): Uint8Array {
  return outputId(idOf(`transaction of input ${position}`), position);
}

export function transactionOf(plan: TransactionPlan): Transaction {
  const ids = plan.inputs.map(({ id }, i) => id ?? inputId(i));
  const essence: Transaction['essence'] = {
    type: 1,
    networkId: plan.networkId ?? networkId(NETWORK_NAME),
    inputs: ids.map((id) => ({
      type: 0,
      transactionId: id.subarray(0, 32),
      outputIndex: new Reader(id.subarray(32)).u16(),
    })),
    inputsCommitment:
      plan.commitment ?? inputsCommitment(plan.inputs.map(({ output }) => outputBytes(output))),
    outputs: plan.outputs,
    payload: plan.payload,
  };
  const unsigned: Transaction = { type: 6, essence, unlocks: plan.inputs.map(() => referTo(0)) };
  const bytes = encode(transaction, unsigned);
  const message =
    plan.signed?.(bytes.subarray(4, bytes.length - 2 - 3 * ids.length)) ??
    signedDigest(unsigned, bytes);
  const unlocks = plan.inputs.map(({ unlock }) =>
    'secretKey' in unlock ? signature(unlock, message) : unlock,
  );
  return { type: 6, essence, unlocks };
}

export function signature({ secretKey, publicKey }: Signer, message: Uint8Array): Unlock {
  const signed = ed25519.sign(message, secretKey);
  return { type: UnlockType.Signature, signature: { type: 0, publicKey, signature: signed } };
}

export function transactionBytes(plan: TransactionPlan): Uint8Array {
  return encode(transaction, transactionOf(plan));
}

/**
 * The transaction as it comes back from its bytes, and what it consumes. Throws if it breaks a
 * syntactic rule.
 */
export function judged(plan: TransactionPlan): {
  tx: JudgedTransaction;
  consumed: ConsumedOutput[];
} {
  const payload = transactionBytes(plan);
  const value = decode(transaction, new Reader(payload));
  checkTransaction(value);
  const digest = signedDigest(value, payload);
  const validSignatures = value.unlocks.map(
    (unlock) =>
      unlock.type === UnlockType.Signature &&
      verifyZip215(unlock.signature.publicKey, digest, unlock.signature.signature),
  );
  const consumed = plan.inputs.map(({ output, id }, i) => {
    return { id: id ?? inputId(i), bytes: outputBytes(output), output };
  });
  return {
    tx: { value, id: transactionId(payload), signedDigest: digest, validSignatures },
    consumed,
  };
}

/**
 * The verdict on the transaction in a milestone at `unixTime`; an Error if the verdict over time
 * says otherwise.
 */
export function verdict(plan: TransactionPlan, unixTime = 1000): ConflictReason {
  const { tx, consumed } = judged(plan);
  const reason = judge(tx, consumed, unixTime);
  const step = judgeOverTime(tx, consumed).findLast(({ from }) => from <= unixTime);
  if (step?.reason !== reason) throw new Error(`${reason} by judge, ${step?.reason} over time`);
  return reason;
}

// Blocks

export interface BlockPlan {
  parents?: Uint8Array[];
  payload?: Payload | undefined;
  nonce?: bigint;
  protocolVersion?: number;
}

/** A block; its parents are put in order. */
export function blockBytes({
  parents = [ZERO],
  payload,
  nonce = 0n,
  protocolVersion = 2,
}: BlockPlan): Uint8Array {
  return encode(block, {
    protocolVersion,
    parents: parents.toSorted(Buffer.compare),
    payload,
    nonce,
  });
}

/** The first rule that the bytes break as a block, or undefined. */
export function brokenRule(bytes: Uint8Array): string | undefined {
  const result = parseBlock(bytes);
  return result.ok ? undefined : result.rule;
}

/** A block around payload bytes, whatever they are. */
export function blockAround(
  payload: Uint8Array,
  declaredLength = payload.length,
  nonce = 0,
): Uint8Array {
  const length = new Uint8Array(Uint32Array.of(declaredLength).buffer);
  return concatBytes(
    Uint8Array.of(2, 1),
    ZERO,
    length,
    payload,
    Uint8Array.of(nonce, 0, 0, 0, 0, 0, 0, 0),
  );
}

// Milestones

export interface MilestonePlan extends Partial<Omit<Milestone, 'type' | 'signatures'>> {
  signers?: Signer[];
}

/** A milestone; the signers sign what they should, and stand in order of their keys. */
export function milestoneOf({
  signers = [signer('coordinator')],
  ...given
}: MilestonePlan): Milestone {
  const unsigned: Milestone = {
    type: 7,
    index: 1,
    timestamp: 1000,
    protocolVersion: 2,
    previousMilestoneId: ZERO,
    parents: [ZERO],
    inclusionMerkleRoot: blake2b256(new Uint8Array()),
    appliedMerkleRoot: blake2b256(new Uint8Array()),
    metadata: new Uint8Array(),
    options: [],
    ...given,
    signatures: [],
  };
  const id = milestoneId(unsigned, encode(milestone, unsigned));
  const signatures = signers.map(({ secretKey, publicKey }) => {
    return { type: 0 as const, publicKey, signature: ed25519.sign(id, secretKey) };
  });
  return {
    ...unsigned,
    signatures: signatures.sort((a, b) => Buffer.compare(a.publicKey, b.publicKey)),
  };
}

/** The ID of the milestone (B.9). */
export function idOfMilestone(value: Milestone): Uint8Array {
  return milestoneId(value, encode(milestone, value));
}
