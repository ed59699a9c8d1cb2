/**
 * BLAKE2b-256 (RFC 7693), unkeyed: the hash of every identifier (protocol.md B; TIP-0004, TIP-0020, TIP-0024).
 */
import { blake2b } from '@noble/hashes/blake2.js';
import { BLOCK_BYTES, blake2b256Short } from './blake2b-short.ts';

/** The 32-byte hash of `bytes`, which may be of any length. Takes one argument only, so that it can be given to `map`. */
export function blake2b256(bytes: Uint8Array): Uint8Array {
  return bytes.length <= BLOCK_BYTES ? blake2b256Short(bytes) : blake2b(bytes, { dkLen: 32 });
}
