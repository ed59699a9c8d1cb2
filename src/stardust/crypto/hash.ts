/**
 * BLAKE2b-256 (RFC 7693), unkeyed: the hash of every identifier, and of the leaves of Merkle trees
 * (docs/protocol.md, B; TIP-0004, TIP-0020, TIP-0024). Always by @noble/hashes.
 *
 * Most of what is hashed is one block of BLAKE2b or two. Noble makes an instance for each hash,
 * which takes about a sixth of the time of such a hash, and garbage. So this is one instance whose
 * state is reset before each hash. For that it relies on members that noble types but does not
 * document: the protected `length`, `pos`, `finished`, `get` and `set`. In brackets TypeScript
 * allows them and still checks their types. package.json pins the version. When it is raised, the
 * compiler checks the types, and test/stardust/crypto/hash.test.ts the values.
 */
// biome-ignore-all lint/complexity/useLiteralKeys: a literal key would not compile, see above
import { blake2b } from '@noble/hashes/blake2.js';

const instance = blake2b.create({ dkLen: 32 });

/** The state before any block: eight 64-bit words, the low half of each first. */
const initial = Int32Array.from(instance['get']());

/** The one instance, as if nothing had been hashed yet: for a hash that ends before the next. */
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

/**
 * The 32-byte hash of `bytes`, which may be of any length. Takes one argument only, so that it can
 * be given to `map`.
 */
export function blake2b256(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const hash = new Uint8Array(32);
  resetHash().update(bytes).digestInto(hash);
  return hash;
}
