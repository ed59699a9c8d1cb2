/**
 * What a verdict is made from: a transaction with its signatures verified, and the outputs that it
 * consumes.
 */
import type { Output } from '../wire/output.ts';
import type { Transaction } from '../wire/transaction.ts';

/** A transaction that keeps the syntactic rules (docs/protocol.md, C). */
export interface JudgedTransaction {
  value: Transaction;
  /** 32 bytes (B.2). */
  id: Uint8Array;
  /** 32 bytes (B.3). */
  signedDigest: Uint8Array;
  /**
   * For each unlock whether it is a signature that is valid over `signedDigest` (signatures.ts).
   * Entries of other unlocks are ignored.
   */
  validSignatures: readonly boolean[];
}

export interface ConsumedOutput {
  /** 34 bytes (B.4). */
  id: Uint8Array;
  /** The output in binary form (A.8). */
  bytes: Uint8Array;
  output: Output;
}
