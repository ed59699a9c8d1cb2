/**
 * Proof of work of a block (docs/protocol.md, C-6;
 * https://github.com/iotaledger/tips/blob/main/tips/TIP-0012/tip-0012.md): the Curl-P-81 hash, in
 * balanced ternary, of the digest of all bytes before the nonce, followed by the nonce.
 */
import { blake2b256 } from './hash.ts';

/** Trits of a hash, and of Curl's state. */
const HASH_TRITS = 243;
const STATE_TRITS = 3 * HASH_TRITS;
const ROUNDS = 81;

const NONCE_BYTES = 8;

/** Curl's S-box: for trits a and b, the result at a + 4b + 5. */
const S_BOX = Int8Array.of(1, 0, -1, 2, 1, -1, 0, 2, -1, 1, 0);

/** Places of the state that a round reads: place i is made of chain[i] and chain[i + 1]. */
const CHAIN = Uint16Array.from({ length: STATE_TRITS + 1 }, (_, i) => (i * 364) % STATE_TRITS);

/** Six trits a byte, as a signed number, least significant first (b1t6). */
const TRITS_OF_BYTE = Array.from({ length: 256 }, (_, byte) => {
  let left = byte < 128 ? byte : byte - 256;
  return Int8Array.from({ length: 6 }, () => {
    // balanced: the remainder is -1, 0 or 1
    const trit = ((((left + 1) % 3) + 3) % 3) - 1;
    left = (left - trit) / 3;
    return trit;
  });
});

/** Zero trits at the end of the block's proof-of-work hash, 0 to 243. */
export function trailingZeros(block: Uint8Array): number {
  const digest = blake2b256(block.subarray(0, -NONCE_BYTES));
  let state = new Int8Array(STATE_TRITS);
  let at = 0;
  for (const part of [digest, block.subarray(-NONCE_BYTES)]) {
    for (const byte of part) {
      state.set(TRITS_OF_BYTE[byte]!, at);
      at += 6;
    }
  }
  state = curl(state);
  let zeros = 0;
  while (zeros < HASH_TRITS && state[HASH_TRITS - 1 - zeros] === 0) zeros++;
  return zeros;
}

function curl(input: Int8Array<ArrayBuffer>): Int8Array<ArrayBuffer> {
  let [from, to] = [input, new Int8Array(STATE_TRITS)];
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < STATE_TRITS; i++)
      to[i] = S_BOX[from[CHAIN[i]!]! + 4 * from[CHAIN[i + 1]!]! + 5]!;
    [from, to] = [to, from];
  }
  return from;
}

/** Whether 3 to the power of the trailing zeros, by the length, is at least `minScore`. */
export function hasProofOfWork(block: Uint8Array, minScore: number): boolean {
  if (minScore === 0) return true;
  // both sides are exact in a double as far as it matters: at most 2^47 and 3^33
  return 3 ** trailingZeros(block) >= minScore * block.length;
}
