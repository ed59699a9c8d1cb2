/**
 * The signature check that this program uses: ZIP-215 (docs/protocol.md, F), with WebCrypto's help.
 *
 * What was verified is remembered as long as the parsed bytes live, which nothing changes. So a
 * fetched block's signatures can be verified while other blocks are still on their way, and its
 * verdict finds them done.
 */
import { verifyEd25519, webCrypto } from '../stardust/crypto/ed25519.ts';
import type { VerifySignature } from '../stardust/milestone-keys.ts';

const platform = webCrypto(crypto.subtle);

interface Verified {
  publicKey: Uint8Array;
  message: Uint8Array;
  isValid: boolean;
}

/**
 * By the signature. Results only: a promise would belong to the request that began it, and another
 * one may not wait for it.
 */
const verified = new WeakMap<Uint8Array, Verified>();

export const verifySignature: VerifySignature = async (publicKey, message, signature) => {
  const known = verified.get(signature);
  if (known?.publicKey === publicKey && known.message === message) return known.isValid;
  const isValid = await verifyEd25519(publicKey, message, signature, platform);
  verified.set(signature, { publicKey, message, isValid });
  return isValid;
};
