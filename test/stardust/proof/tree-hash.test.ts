/**
 * The hash of tree nodes (RFC 7693; docs/protocol.md, B.13), compared with @noble/hashes as it is
 * documented.
 */
import { blake2b } from '@noble/hashes/blake2.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blake2b256 } from '../../../src/stardust/crypto/hash.ts';
import { hashPair } from '../../../src/stardust/proof/tree-hash.ts';

const noble = (bytes: Uint8Array): string =>
  Buffer.from(blake2b(bytes, { dkLen: 32 })).toString('hex');

/** Bytes as little-endian words. */
function toWords(bytes: Uint8Array): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Uint32Array.from({ length: bytes.length / 4 }, (_, i) => view.getUint32(4 * i, true));
}

function toHex(words: Uint32Array): string {
  const bytes = Buffer.alloc(4 * words.length);
  for (const [i, word] of words.entries()) bytes.writeUInt32LE(word, 4 * i);
  return bytes.toString('hex');
}

const children = fc.oneof(
  fc.uint8Array({ minLength: 64, maxLength: 64 }),
  // the values at which carries and signs go wrong
  fc.array(fc.constantFrom(0x00, 0x01, 0x7f, 0x80, 0xff), { minLength: 64, maxLength: 64 }),
);

describe('hashPair', () => {
  it('hashes a node as @noble/hashes does', () => {
    fc.assert(
      fc.property(children, (bytes) => {
        const words = toWords(Uint8Array.from(bytes));
        hashPair(words, 0, 0);
        expect(toHex(words.subarray(0, 8))).toBe(noble(Uint8Array.of(1, ...bytes)));
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    [5, 22],
    [5, 0],
    [0, 8],
    [8, 3],
  ])('reads from %d on and writes 8 words from %d on, and nothing else', (from, to) => {
    const before = Uint32Array.from({ length: 32 }, (_, i) => Math.imul(i + 1, 0x0101_0193));
    const after = before.slice();
    hashPair(after, from, to);
    const message = Buffer.from(`01${toHex(before.subarray(from, from + 16))}`, 'hex');
    expect(toHex(after.subarray(to, to + 8))).toBe(noble(message));
    after.set(before.subarray(to, to + 8), to);
    expect(after).toEqual(before);
  });
});

describe('blake2b256', () => {
  // RFC 7693 has "abc" for 64 bytes only; these are of Python's hashlib.blake2b(…, digest_size=32)
  it.each([
    ['', '0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8'],
    ['abc', 'bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319'],
    ['a'.repeat(128), 'ae2aa48507885c4c950fb809b2076f959cde9f8ea6da260d9a3587df33dac450'],
    ['a'.repeat(129), '2f64744a6de0d2c0b56e64cf6e29a5aaa255010d415d51c75ccc82f73dccd865'],
  ])('hashes "%s"', (text, hash) => {
    expect(blake2b256(Buffer.from(text)).toHex()).toBe(hash);
  });
});
