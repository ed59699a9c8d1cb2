/**
 * Signatures of a transaction (TIP-0014; docs/protocol.md, F and S2.10). All are verified before
 * there is a verdict; unlocking.ts uses the result only if the key belongs to the owner's address.
 */
import type { VerifySignature } from '../milestone-keys.ts';
import { UnlockType } from '../wire/unlock.ts';
import type { JudgedTransaction } from './verdict.ts';

/**
 * Returns for each unlock whether it is a signature that is valid over the transaction's signed
 * digest (B.3). The promise rejects only if one of `verify` does.
 */
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
