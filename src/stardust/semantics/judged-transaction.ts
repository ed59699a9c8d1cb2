/**
 * What the judge is given: a transaction with its signatures checked, and the outputs that it
 * consumes.
 */
import type { Output } from '../output.ts';
import type { Transaction } from '../transaction.ts';

/** A transaction that passed the syntactic rules. */
export interface JudgedTransaction {
  value: Transaction;
  /** 32 bytes (B.2). */
  id: Uint8Array;
  /** 32 bytes (B.3). */
  signedDigest: Uint8Array;
  /** Per unlock whether its signature is valid over `signedDigest` (signatures.ts); the entry of any other unlock is ignored. */
  validSignatures: readonly boolean[];
}

export interface ConsumedOutput {
  /** 34 bytes (B.4). */
  id: Uint8Array;
  /** As it stands in the ledger. */
  bytes: Uint8Array;
  output: Output;
}
