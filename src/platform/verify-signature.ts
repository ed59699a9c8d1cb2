/**
 * The signature check of this program: ZIP-215 (docs/protocol.md, F), with WebCrypto's help.
 * Results are remembered as long as the parsed bytes live: a fetched block's signatures are
 * verified while other blocks are on their way, and its verdict finds them done.
 */
import { verifyEd25519, webCrypto } from '../stardust/crypto/ed25519.ts';
import type { VerifySignature } from '../stardust/milestone-keys.ts';
import { nextTurn } from './clock.ts';

const native = webCrypto(crypto.subtle);
/** Work between two turns of others, 25 ms, in signatures that WebCrypto calls valid. */
const WORK_AT_ONCE = 500;
let work = 0;

const platform: VerifySignature = async (...signed) => {
  // a rejection is no verdict: JavaScript gives it, in ten times as long
  const isValid = await native(...signed).catch(() => false);
  work += isValid ? 1 : 10;
  if (work < WORK_AT_ONCE) return isValid;
  work = 0;
  await nextTurn();
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
