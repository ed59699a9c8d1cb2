/**
 * Ed25519 keys made from text. node:crypto signs, twenty times as fast as pure JavaScript; by RFC
 * 8032 both give the same signature.
 */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { blake2b256 } from '../../../src/stardust/crypto/hash.ts';
import { concatBytes } from '../../../src/stardust/encoding/bytes.ts';
import { AddressType, type Ed25519Address } from '../../../src/stardust/wire/address.ts';
import { ed25519AddressId } from '../../../src/stardust/wire/ids.ts';

export interface KeyPair {
  /** 32 bytes, the seed of RFC 8032. */
  secretKey: Uint8Array;
  publicKey: Uint8Array;
  address: Ed25519Address;
  sign(message: Uint8Array): Uint8Array;
}

/** RFC 8410: what stands before the 32 bytes of a key. */
const PKCS8_HEAD = Uint8Array.fromHex('302e020100300506032b657004220420');
const SPKI_HEAD = Uint8Array.fromHex('302a300506032b6570032100');

export function keyPair(seed: string): KeyPair {
  const secret = blake2b256(new TextEncoder().encode(seed));
  const key = Buffer.from(concatBytes(PKCS8_HEAD, secret));
  const privateKey = createPrivateKey({ key, format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  const publicKey = new Uint8Array(spki.subarray(SPKI_HEAD.length));
  return {
    secretKey: secret,
    publicKey,
    address: { type: AddressType.Ed25519, id: ed25519AddressId(publicKey) },
    sign(message) {
      const signature = new Uint8Array(sign(null, message, privateKey));
      rememberValid(publicKey, message, signature);
      return signature;
    },
  };
}

type Signed = [publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array];

/** Signatures that are valid: keys of this file made them, or they were verified. */
const valid = new Set<string>();
const MAX_VALID = 50_000;

const nameOf = (...parts: Signed) =>
  parts.map((part) => Buffer.from(part).toString('latin1')).join();

export const isKnownValid = (...parts: Signed): boolean => valid.has(nameOf(...parts));

export function rememberValid(...parts: Signed): void {
  if (valid.size >= MAX_VALID) valid.clear();
  valid.add(nameOf(...parts));
}

/** A public key as node:crypto takes it. */
function spkiKey(publicKey: Uint8Array): KeyObject {
  const key = Buffer.from(concatBytes(SPKI_HEAD, publicKey));
  return createPublicKey({ key, format: 'der', type: 'spki' });
}

/**
 * For signatures by keys of this file only. It does not apply the rules of ZIP-215. What was signed
 * here is not verified again, which takes as long as all else that a test does with a block.
 */
export function verifySignature(...parts: Signed): boolean {
  const [publicKey, message, signature] = parts;
  return isKnownValid(...parts) || verify(null, message, spkiKey(publicKey), signature);
}
