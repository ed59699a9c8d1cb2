/**
 * Milestone payload, type 7, with its options: receipt and protocol parameters (TIP-0029, TIP-0034;
 * docs/protocol.md, A.10, C-M).
 */
import {
  bool,
  byteString,
  type Codec,
  constant,
  fixed,
  list,
  optionalPayload,
  record,
  u8,
  u16,
  u32,
  u64,
  union,
} from '../encoding/codec.ts';
import { refusal } from '../error.ts';
import { type Ed25519Address, ed25519Address } from './address.ts';
import { type Ed25519Signature, ed25519Signature } from './unlock.ts';

export interface MigratedFunds {
  /** 49 bytes: hash of the tail transaction in the legacy network. */
  tailTransactionHash: Uint8Array;
  address: Ed25519Address;
  /** Base tokens. */
  deposit: bigint;
}

/** Spends the treasury output and makes the next: payload type 4, only within a receipt. */
export interface TreasuryTransaction {
  type: 4;
  input: { type: 1; milestoneId: Uint8Array };
  output: { type: 2; amount: bigint };
}

export interface ReceiptOption {
  type: 0;
  migratedAt: number;
  final: boolean;
  funds: MigratedFunds[];
  transaction: TreasuryTransaction;
}

export interface ProtocolParametersOption {
  type: 1;
  /** Index of the milestone from which on the parameters are in force. */
  targetMilestoneIndex: number;
  protocolVersion: number;
  /** Protocol parameters in binary form (parameters.ts). */
  parameters: Uint8Array;
}

export type MilestoneOption = ReceiptOption | ProtocolParametersOption;

export interface Milestone {
  type: 7;
  index: number;
  /** Unix seconds. */
  timestamp: number;
  protocolVersion: number;
  previousMilestoneId: Uint8Array;
  parents: Uint8Array[];
  inclusionMerkleRoot: Uint8Array;
  appliedMerkleRoot: Uint8Array;
  metadata: Uint8Array;
  options: MilestoneOption[];
  signatures: Ed25519Signature[];
}

/** 1 to 8 block IDs, ascending (C-2). */
export const parents = list(u8, fixed(32), { rule: 'C-2', min: 1, max: 8, order: 'ascending' });

const migratedFunds: Codec<MigratedFunds> = record<MigratedFunds>({
  tailTransactionHash: fixed(49),
  address: ed25519Address,
  deposit: u64,
});

const treasuryTransaction: Codec<TreasuryTransaction> = record<TreasuryTransaction>({
  type: constant('A.10', u32, 4),
  input: record<TreasuryTransaction['input']>({
    type: constant('A.10', u8, 1),
    milestoneId: fixed(32),
  }),
  output: record<TreasuryTransaction['output']>({ type: constant('A.10', u8, 2), amount: u64 }),
});

const optionalTreasuryTransaction = optionalPayload('A.10', treasuryTransaction);

/** Receipts are also kept by themselves, in this form. */
export const receiptOption: Codec<ReceiptOption> = record<ReceiptOption>({
  type: constant('A.10', u8, 0),
  migratedAt: u32,
  final: bool,
  // A.10: the order is that of the whole 90 bytes, unlike TIP-0034
  funds: list(u16, migratedFunds, { rule: 'A.10', min: 1, max: 127, order: 'ascending' }),
  transaction: {
    decode: (r) => {
      const value = optionalTreasuryTransaction.decode(r);
      if (value === undefined) throw refusal('A.10', 'a receipt without its treasury transaction');
      return value;
    },
    encode: optionalTreasuryTransaction.encode,
  },
});

/** The form in snapshot headers too (docs/snapshot-format.md#protocol-parameters). */
export const protocolParametersOption: Codec<ProtocolParametersOption> =
  record<ProtocolParametersOption>({
    type: constant('A.10', u8, 1),
    targetMilestoneIndex: u32,
    protocolVersion: u8,
    parameters: byteString('A.10', u16, 0, 8192),
  });

const option: Codec<MilestoneOption> = union<MilestoneOption>('A.10', u8, {
  0: receiptOption,
  1: protocolParametersOption,
});

export const milestone: Codec<Milestone> = record<Milestone>({
  type: constant('C-3', u32, 7),
  index: u32,
  timestamp: u32,
  protocolVersion: u8,
  previousMilestoneId: fixed(32),
  parents,
  inclusionMerkleRoot: fixed(32),
  appliedMerkleRoot: fixed(32),
  metadata: byteString('A.10', u16, 0, 8192),
  // M-9: two options of one type pass here; the milestone fails when it is applied
  options: list(u8, option, { rule: 'A.10', min: 0, max: 2, order: 'ascending' }),
  // A.10: order and uniqueness look at the type byte and 31 bytes of the key, so two keys that
  // differ in their last byte only are refused, unlike in TIP-0029.
  signatures: list(u8, ed25519Signature, {
    rule: 'A.10',
    min: 1,
    max: 255,
    order: 'ascending',
    compared: 32,
  }),
});

/** The part that is signed (B.9): the payload's bytes without type and signatures. */
export function milestoneEssenceBytes(value: Milestone, payload: Uint8Array): Uint8Array {
  return payload.subarray(4, payload.length - 1 - value.signatures.length * 97);
}

/** The milestone's receipt, undefined if it has none. */
export function receiptOf(value: Milestone): ReceiptOption | undefined {
  return value.options.find((each) => each.type === 0);
}

/** The protocol parameters that the milestone announces, undefined if it announces none. */
export function announcedParameters(value: Milestone): ProtocolParametersOption | undefined {
  return value.options.find((each) => each.type === 1);
}
