/**
 * The signature check of this program: ZIP-215 (docs/protocol.md, F), with WebCrypto's help.
 * Results are remembered as long as the parsed bytes live: a fetched block's signatures are
 * verified while other blocks are on their way, and its verdict finds them done.
 */
import { verifyEd25519, webCrypto } from '../stardust/crypto/ed25519.ts';
import type { VerifySignature } from '../stardust/milestone-keys.ts';
import { nextTurn } from './clock.ts';

const platform = webCrypto(crypto.subtle);
/** 25 ms where WebCrypto refuses them. By the clock a busy node would let others in after each. */
const CHECKS_AT_ONCE = 48;
let checks = 0;

interface Verified {
  publicKey: Uint8Array;
  message: Uint8Array;
  isValid: boolean;
}

/** Results by signature; no promises, which belong to the request that began them. */
const verified = new WeakMap<Uint8Array, Verified>();

export const verifySignature: VerifySignature = async (publicKey, message, signature) => {
  const known = verified.get(signature);
  if (known?.publicKey === publicKey && known.message === message) return known.isValid;
  const isValid = await verifyEd25519(publicKey, message, signature, platform);
  verified.set(signature, { publicKey, message, isValid });
  if (++checks % CHECKS_AT_ONCE === 0) await nextTurn();
  return isValid;
};
