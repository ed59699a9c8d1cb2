/**
 * The signatures of a transaction, by the rule that is handed in (TIP-0014; protocol.md F, S2.10).
 *
 * Whether one is looked at at all is decided in unlocking.ts: only if its key hashes to the owner's address.
 */

import type { VerifySignature } from '../milestone-keys.ts';
import { UnlockType } from '../unlock.ts';
import type { JudgedTransaction } from './judged-transaction.ts';

/** For each unlock whether it is a signature that is valid over the transaction's signed digest (B.3). Rejects only if `verify` does. */
export function verifySignatures(
  { value, signedDigest }: Pick<JudgedTransaction, 'value' | 'signedDigest'>,
  verify: VerifySignature,
): Promise<boolean[]> {
  return Promise.all(
    value.unlocks.map(async (unlock) => {
      if (unlock.type !== UnlockType.Signature) return false;
      const { publicKey, signature } = unlock.signature;
      return verify(publicKey, signedDigest, signature);
    }),
  );
}
