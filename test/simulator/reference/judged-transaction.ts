/**
 * A plan's transaction as networks have it, with the verdict of the product's judge: the reference
 * compares it with its own (tools/judge).
 */
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { decode } from '../../../src/stardust/encoding/codec.ts';
import { StardustError } from '../../../src/stardust/error.ts';
import { judgeAt } from '../../../src/stardust/semantics/judge.ts';
import {
  outputBytes,
  outputId,
  signedDigest,
  transactionId,
} from '../../../src/stardust/wire/ids.ts';
import { transaction } from '../../../src/stardust/wire/transaction.ts';
import { UnlockType } from '../../../src/stardust/wire/unlock.ts';
import { coin, type MadeTransaction } from '../../support/network/transactions.ts';
import { verifySignature } from '../../support/payloads/keys.ts';
import { type TransactionPlan, transactionBytes } from '../../support/payloads/transactions.ts';

/** Undefined where a number of the plan has no binary form. */
export function tryTo<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof RangeError || error instanceof StardustError) return undefined;
    throw error;
  }
}

/** The plan's transaction; its bytes may break a rule, and then there is no verdict on it. */
export function judgedTransaction(plan: TransactionPlan): MadeTransaction {
  const payload = transactionBytes(plan);
  const id = transactionId(payload);
  const consumed = plan.inputs.map(({ id, output }) => {
    return { id: id!, bytes: outputBytes(output), output };
  });
  // as it comes back from its bytes
  const judged = lazily(() => {
    const value = decode(transaction, payload);
    const digest = signedDigest(value, payload);
    const validSignatures = value.unlocks.map(
      (unlock) =>
        unlock.type === UnlockType.Signature &&
        verifySignature(unlock.signature.publicKey, digest, unlock.signature.signature),
    );
    return { value, id, signedDigest: digest, validSignatures };
  });
  return {
    payload,
    id,
    inputs: consumed.map(({ id }) => toHex(id)),
    coins: plan.outputs.map((value, i) => coin(outputId(id, i), value)),
    verdict: (timestamp) => judgeAt(judged(), consumed, timestamp),
  };
}

function lazily<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
