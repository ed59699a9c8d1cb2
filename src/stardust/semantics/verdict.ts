/**
 * Verdicts on transactions: their input, and their meaning (TIP-0025; docs/protocol.md, D.0). The
 * Merkle roots depend only on whether there is a conflict. Nodes report the number of the reason as
 * `conflictReason`. The reference's 255, "anything else", is missing: no rule leads to it.
 */
import type { Output } from '../wire/output.ts';
import type { Transaction } from '../wire/transaction.ts';

/**
 * Reasons why a referenced transaction is not applied. Search the name for the deciding line: 1 to
 * 3 in ../white-flag/walk.ts, the others in judge.ts and the files that it calls.
 */
export const ConflictReason = {
  None: 0,
  InputAlreadySpent: 1,
  InputAlreadySpentInThisMilestone: 2,
  InputNotFound: 3,
  InputOutputSumMismatch: 4,
  InvalidSignature: 5,
  TimelockNotExpired: 6,
  InvalidNativeTokens: 7,
  ReturnAmountNotFulfilled: 8,
  InvalidInputUnlock: 9,
  InvalidInputsCommitment: 10,
  InvalidSender: 11,
  InvalidChainStateTransition: 12,
} as const;

export type ConflictReason = (typeof ConflictReason)[keyof typeof ConflictReason];

const WORDS: { [R in ConflictReason]: string } = {
  0: 'no conflict',
  1: 'an input was spent in an earlier milestone',
  2: 'an input was spent earlier in this milestone',
  3: 'an input is unknown',
  4: 'inputs and outputs differ in base tokens',
  5: 'a signature is not valid or not by the owner',
  6: 'an input is still timelocked',
  7: 'native tokens are not balanced',
  8: 'a storage deposit is not returned',
  9: 'an unlock is not the one that its input needs',
  10: 'the inputs commitment does not match the consumed outputs',
  11: 'a sender is not unlocked',
  12: 'a chain may not change in this way',
};

/** The rules of docs/protocol.md that lead to each reason, as its table D.0 has them. */
const RULES: { [R in ConflictReason]: string } = {
  0: '',
  1: 'L-4',
  2: 'L-1',
  3: 'L-3',
  4: 'S4.1',
  5: 'S2.9, S2.10',
  6: 'S1',
  7: 'S5.1 to S5.6',
  8: 'S4.2, S4.3',
  9: 'S2.4 to S2.8',
  10: 'S2.0',
  11: 'S3',
  12: 'S2.2, S6.1, S6.2',
};

/** The verdict on a transaction from one time on, until that of the next step. */
export interface VerdictStep {
  /** The milestone's timestamp, unix seconds; 0 in the first step. */
  from: number;
  /** `None` where the transaction is applied. */
  reason: ConflictReason;
}

/** The reason with this number. Throws a RangeError if there is none. */
export function conflictReasonOf(number: number): ConflictReason {
  if (!(number in WORDS)) throw new RangeError(`there is no conflict reason ${number}`);
  return number as ConflictReason;
}

/** The rules, of which one decided; empty where there is no conflict. */
export const rulesOf = (reason: ConflictReason): string => RULES[reason];

export const describeReason = (reason: ConflictReason): string => WORDS[reason];

/** Cause of a transaction's conflict (D.2), for people. */
export interface Fault {
  reason: Exclude<ConflictReason, typeof ConflictReason.None>;
  /** The rule that decided, by its number in docs/protocol.md. */
  rule: string;
  /** Place of the first input that decided, from 0; absent if the whole did, such as by sums. */
  input?: number;
  /** Place of the output of the transaction that decided, from 0: of several the first. */
  output?: number;
}

/** A transaction that keeps the syntactic rules (docs/protocol.md, C). */
export interface JudgedTransaction {
  value: Transaction;
  /** 32 bytes (B.2). */
  id: Uint8Array;
  /** 32 bytes (B.3). */
  signedDigest: Uint8Array;
  /** Whether each unlock is a signature that is valid over `signedDigest` (signatures.ts). */
  validSignatures: readonly boolean[];
}

export interface ConsumedOutput {
  /** 34 bytes (B.4). */
  id: Uint8Array;
  /** The output in binary form (A.8). */
  bytes: Uint8Array;
  /** BLAKE2b-256 of `bytes`, where it was computed before. */
  hash?: Uint8Array;
  output: Output;
}
