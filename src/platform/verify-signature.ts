/**
 * The signature check of this program: ZIP-215 (docs/protocol.md, F), with WebCrypto's help.
 * Results are remembered as long as the parsed bytes live: a fetched block's signatures are
 * verified while other blocks are on their way, and its verdict finds them done.
 */
import { verifyEd25519, webCrypto } from '../stardust/crypto/ed25519.ts';
import type { VerifySignature } from '../stardust/milestone-keys.ts';
import { nextTurn } from './clock.ts';

const native = webCrypto(crypto.subtle);
/** Signatures that JavaScript verifies between two turns of others: 25 ms. */
const REFUSED_AT_ONCE = 48;
let refused = 0;

/** Others have turns where it refuses: what it calls valid costs too little to wait in between. */
const platform: VerifySignature = async (...signed) => {
  const isValid = await native(...signed).catch(() => false);
  if (!isValid && ++refused % REFUSED_AT_ONCE === 0) await nextTurn();
  return isValid;
};

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
  return isValid;
};
