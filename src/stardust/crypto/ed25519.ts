/**
 * Ed25519 signatures by ZIP-215 (https://zips.z.cash/zip-0215; TIP-0014; docs/protocol.md, F):
 * nodes must agree about every signature, and RFC 8032 leaves implementations a choice.
 */
import { hashes, verify } from '@noble/ed25519';
import { sha512 } from '@noble/hashes/sha2.js';
import type { VerifySignature } from '../milestone-keys.ts';

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

/**
 * Returns whether `signature` (R, then S) is valid. Never throws: input of another length is not
 * valid.
 *
 * - F.1: S is below the group order, so its top three bits are zero; S = 0 is allowed.
 * - F.2: R and A may be any encoding of a point. That includes y that is not reduced, x = 0 with a
 *   sign, and points of small order.
 * - F.3: the challenge hashes R and A as they were sent, not re-encoded.
 * - F.4: the equation is multiplied by the cofactor.
 *
 * @noble/ed25519 does this in its ZIP-215 mode, except for lengths, on which it throws.
 */
export function verifyZip215(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  if (publicKey.length !== KEY_BYTES || signature.length !== SIGNATURE_BYTES) return false;
  // Noble takes its hash from an object that all its users share: ours is there for this call only.
  const theirs = hashes.sha512;
  hashes.sha512 = sha512;
  try {
    return verify(signature, message, publicKey, { zip215: true });
  } finally {
    hashes.sha512 = theirs;
  }
}

/**
 * Returns the answer of {@link verifyZip215}, faster if the platform says "valid", which is
 * believed; anything else is decided by {@link verifyZip215}.
 *
 * Why "valid" may be believed: WebCrypto follows RFC 8032, 5.1.7, and every signature that is valid
 * by it is valid by ZIP-215. Both require S < L and hash R and A as sent. A point that RFC 8032
 * decodes, ZIP-215 decodes to the same. Where S·B = R + k·A holds, it also holds times eight. (Some
 * implementations compare R with the encoding of S·B - k·A. Then R is that encoding.)
 *
 * Why "invalid" may not: WebCrypto may refuse points that are not reduced or of small order, and,
 * without the cofactor, sides that differ by a point of small order. If it lacks Ed25519, or does
 * not accept the key, its promise rejects.
 *
 * @param platform what it calls valid must be valid by ZIP-215; it may call others invalid, or
 * reject
 */
export async function verifyEd25519(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
  platform?: VerifySignature,
): Promise<boolean> {
  if (platform !== undefined) {
    try {
      if (await platform(publicKey, message, signature)) return true;
    } catch {
      // A rejection is no verdict: verifyZip215 decides.
    }
  }
  return verifyZip215(publicKey, message, signature);
}

/** The part of SubtleCrypto that is used here. `Key` is its CryptoKey. */
export interface Subtle<Key> {
  importKey(
    format: 'raw',
    bytes: Uint8Array<ArrayBuffer>,
    algorithm: 'Ed25519',
    extractable: boolean,
    usages: 'verify'[],
  ): Promise<Key>;
  verify(
    algorithm: 'Ed25519',
    key: Key,
    signature: Uint8Array<ArrayBuffer>,
    message: Uint8Array<ArrayBuffer>,
  ): Promise<boolean>;
}

/**
 * The verifier of WebCrypto, made from `crypto.subtle`. A signature takes it 0.05 ms in workerd,
 * and {@link verifyZip215} 0.3 to 0.5 ms.
 *
 * @example
 * ```ts
 * import { verifyEd25519, webCrypto } from '@stardust-edge/protocol/ed25519';
 * import { verifyInclusion } from '@stardust-edge/protocol/proof';
 *
 * const platform = webCrypto(crypto.subtle);
 *
 * export const verifyFast = (file: unknown, publicKey: Uint8Array) =>
 *   verifyInclusion(
 *     file,
 *     { keys: [{ publicKey, first: 0, last: 0 }], threshold: 1 },
 *     (key, message, signature) => verifyEd25519(key, message, signature, platform),
 *   );
 * ```
 */
export function webCrypto<Key>(subtle: Subtle<Key>): VerifySignature {
  // nothing here is in memory that threads share, which WebCrypto refuses
  const own = (bytes: Uint8Array) => bytes as Uint8Array<ArrayBuffer>;
  return async (publicKey, message, signature) => {
    const key = await subtle.importKey('raw', own(publicKey), 'Ed25519', false, ['verify']);
    return subtle.verify('Ed25519', key, own(signature), own(message));
  };
}
