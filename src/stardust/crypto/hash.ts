/**
 * BLAKE2b-256 (RFC 7693), unkeyed: the hash of every identifier, and of the leaves of Merkle trees
 * (docs/protocol.md, B; TIP-0004, TIP-0020, TIP-0024). Always by @noble/hashes.
 *
 * Most messages are one block of BLAKE2b or two, and a new instance takes a sixth of the time of
 * such a hash, and garbage. So one instance is reset before each hash. That relies on members that
 * noble types but does not document: the protected `length`, `pos`, `finished`, `get` and `set`,
 * which TypeScript allows in brackets. package.json pins the version; when it is raised, the
 * compiler checks the types, and test/stardust/crypto/hash.test.ts the values.
 */
// biome-ignore-all lint/complexity/useLiteralKeys: a literal key would not compile, see above
import { blake2b } from '@noble/hashes/blake2.js';

const instance = blake2b.create({ dkLen: 32 });

/** The state before any block: eight 64-bit words, the low half of each first. */
const initial = Int32Array.from(instance['get']());

/** Resets the shared hasher. Finish one hash before the next begins. */
export function resetHash(): typeof instance {
  instance['length'] = 0;
  instance['pos'] = 0;
  instance['finished'] = false;
  // One by one, and not by `set(...initial)`: workerd's V8 would box each half.
  instance['set'](
    initial[0]!,
    initial[1]!,
    initial[2]!,
    initial[3]!,
    initial[4]!,
    initial[5]!,
    initial[6]!,
    initial[7]!,
    initial[8]!,
    initial[9]!,
    initial[10]!,
    initial[11]!,
    initial[12]!,
    initial[13]!,
    initial[14]!,
    initial[15]!,
  );
  return instance;
}

/** Returns the 32-byte hash of `bytes` of any length. Takes one argument, for `map`. */
export function blake2b256(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const hash = new Uint8Array(32);
  resetHash().update(bytes).digestInto(hash);
  return hash;
}
