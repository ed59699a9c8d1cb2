/**
 * Signatures of a transaction (TIP-0014; docs/protocol.md, F and S2.10). They are verified before
 * there is a verdict; unlocking.ts uses the result only if the key belongs to the owner's address.
 */
import type { VerifySignature } from '../milestone-keys.ts';
import { UnlockType } from '../wire/unlock.ts';
import type { JudgedTransaction } from './verdict.ts';

/**
 * Returns for each unlock whether it is a signature that is valid over the transaction's signed
 * digest (B.3), up to the first invalid one: its input is refused at the latest (S2.4 to S2.10).
 * One after the other: `verify` may let others in. Rejects only if it does.
 */
export async function verifySignatures(
  { value, signedDigest }: Pick<JudgedTransaction, 'value' | 'signedDigest'>,
  verify: VerifySignature,
): Promise<boolean[]> {
  const valid: boolean[] = [];
  for (const unlock of value.unlocks) {
    const signed = unlock.type === UnlockType.Signature ? unlock.signature : undefined;
    valid.push(!!signed && (await verify(signed.publicKey, signedDigest, signed.signature)));
    if (signed && !valid.at(-1)) break;
  }
  return valid;
}
