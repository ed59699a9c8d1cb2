/**
 * BLAKE2b-256 (RFC 7693), unkeyed: the hash of every identifier, and of the leaves of Merkle trees
 * (docs/protocol.md, B; TIP-0004, TIP-0020, TIP-0024). Always by @noble/hashes.
 */
import { blake2b } from '@noble/hashes/blake2.js';

/**
 * The 32-byte hash of `bytes`, which may be of any length. Takes one argument only, so that it can
 * be given to `map`.
 */
export function blake2b256(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return blake2b(bytes, { dkLen: 32 });
}
