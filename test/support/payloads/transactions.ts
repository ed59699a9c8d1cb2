/**
 * Transactions with real signatures, and the verdicts on them. Whatever is not said is right.
 */
import { verifyZip215 } from '../../../src/stardust/crypto/ed25519.ts';
import { Reader } from '../../../src/stardust/encoding/bytes.ts';
import { decode, encode } from '../../../src/stardust/encoding/codec.ts';
import { judgeAt, judgeOverTime } from '../../../src/stardust/semantics/judge.ts';
import type {
  ConflictReason,
  ConsumedOutput,
  JudgedTransaction,
} from '../../../src/stardust/semantics/verdict.ts';
import {
  inputsCommitment,
  networkId,
  outputBytes,
  outputId,
  signedDigest,
  transactionId,
} from '../../../src/stardust/wire/ids.ts';
import type { Output } from '../../../src/stardust/wire/output.ts';
import { checkTransaction } from '../../../src/stardust/wire/syntax.ts';
import {
  type TaggedData,
  type Transaction,
  transaction,
} from '../../../src/stardust/wire/transaction.ts';
import { type Unlock, UnlockType } from '../../../src/stardust/wire/unlock.ts';
import type { KeyPair } from './keys.ts';
import { idOf } from './outputs.ts';

const NETWORK_NAME = 'private_tangle1';

export const referTo = (reference: number): Unlock => ({ type: UnlockType.Reference, reference });
export const byAlias = (reference: number): Unlock => ({ type: UnlockType.Alias, reference });
export const byNft = (reference: number): Unlock => ({ type: UnlockType.Nft, reference });

export interface PlannedInput {
  output: Output;
  /** Keys sign; anything else stands as it is. */
  unlock: KeyPair | Unlock;
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
      plan.commitment ??
      inputsCommitment(plan.inputs.map(({ output }) => ({ bytes: outputBytes(output) }))),
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

export function signature({ publicKey, sign }: KeyPair, message: Uint8Array): Unlock {
  return {
    type: UnlockType.Signature,
    signature: { type: 0, publicKey, signature: sign(message) },
  };
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
  const value = decode(transaction, payload);
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
  const reason = judgeAt(tx, consumed, unixTime);
  const step = judgeOverTime(tx, consumed).findLast(({ from }) => from <= unixTime);
  if (step?.reason !== reason) throw new Error(`${reason} by judge, ${step?.reason} over time`);
  return reason;
}
