/**
 * The hashers of tree nodes (RFC 7693; docs/protocol.md, B.13), each held against @noble/hashes as
 * it is documented, and the choice between them.
 */
import { blake2b } from '@noble/hashes/blake2.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { treeHashers } from '../../scripts/conformance/tree-hashers.ts';
import { blake2b256 } from '../../src/stardust/hash.ts';
import { chooseTreeHasher } from '../../src/stardust/tree-hasher/choose-tree-hasher.ts';
import { compressBlock } from '../../src/stardust/tree-hasher/compress-block.ts';
import { nobleTreeHasher } from '../../src/stardust/tree-hasher/noble-tree-hasher.ts';
import type { TreeHasher } from '../../src/stardust/tree-hasher/tree-hasher.ts';
import { unrolledTreeHasher } from '../../src/stardust/tree-hasher/unrolled-tree-hasher.ts';
import { wrongInABit } from '../support/stardust/wrong-tree-hasher.ts';

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

describe.each(treeHashers)('$name', (hasher) => {
  it('hashes a node as @noble/hashes does', () => {
    fc.assert(
      fc.property(children, (bytes) => {
        const words = toWords(Uint8Array.from(bytes));
        hasher.hashPair(words, 0, 0);
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
    hasher.hashPair(after, from, to);
    const message = Buffer.from(`01${toHex(before.subarray(from, from + 16))}`, 'hex');
    expect(toHex(after.subarray(to, to + 8))).toBe(noble(message));
    after.set(before.subarray(to, to + 8), to);
    expect(after).toEqual(before);
  });
});

describe('compressBlock', () => {
  const hash = (bytes: Uint8Array): string => {
    const message = new Uint8Array(128);
    message.set(bytes);
    const digest = new Uint32Array(8);
    compressBlock(toWords(message), bytes.length, digest, 0);
    return toHex(digest);
  };

  it('is BLAKE2b-256 for every length of one block, zeros and ones included', () => {
    for (let length = 0; length <= 128; length++) {
      for (const fill of [0x00, 0x01, 0x7f, 0x80, 0xff]) {
        const bytes = new Uint8Array(length).fill(fill);
        expect(hash(bytes)).toBe(noble(bytes));
      }
    }
  });

  it('is BLAKE2b-256 for random messages', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 128, size: 'max' }), (bytes) => {
        expect(hash(bytes)).toBe(noble(bytes));
      }),
      { numRuns: 3000 },
    );
  });

  it('writes eight words at the offset and nothing else', () => {
    const out = new Uint32Array(12).fill(7);
    compressBlock(new Uint32Array(32), 0, out, 2);
    expect([...out.subarray(0, 2), ...out.subarray(10)]).toEqual([7, 7, 7, 7]);
    expect(toHex(out.subarray(2, 10))).toBe(noble(new Uint8Array(0)));
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

describe('chooseTreeHasher', () => {
  it("takes noble's, unless the setting says otherwise", () => {
    const { hasher, fault } = chooseTreeHasher('noble');
    expect(hasher).toBe(nobleTreeHasher);
    expect(fault).toBeUndefined();
  });

  it('takes the unrolled one when it is asked for, for it is right', () => {
    const { hasher, fault } = chooseTreeHasher('unrolled');
    expect(hasher).toBe(unrolledTreeHasher);
    expect(fault).toBeUndefined();
  });

  const bits = Array.from({ length: 256 }, (_, bit) => bit);
  it.each([
    ['the first known node', 0],
    ['the last known node', 3],
    ['the first node of the tree', 4],
    ['a node of the tree in the middle', 60],
    ['the root of the tree', 103],
  ])("takes noble's and says so when any one bit of %s is wrong", (_, node) => {
    for (const bit of bits) {
      const { hasher, fault } = chooseTreeHasher(
        'unrolled',
        wrongInABit(unrolledTreeHasher, node, bit),
      );
      expect(hasher).toBe(nobleTreeHasher);
      expect(fault).toMatch(/^unrolled: (a node|the root of 101 leaves) is [0-9a-f]{64}/);
    }
  });

  it('looks at 104 nodes: what is wrong later is for the signed roots to show', () => {
    const wrong = wrongInABit(unrolledTreeHasher, 104, 0);
    expect(chooseTreeHasher('unrolled', wrong).hasher).toBe(wrong);
  });

  it("takes noble's when words are hashed in the other byte order", () => {
    const swap = (word: number): number =>
      new DataView(Uint32Array.of(word).buffer).getUint32(0, false);
    const swapped: TreeHasher = {
      name: 'unrolled',
      hashPair(words, from, to) {
        const pair = words.slice(from, from + 16).map(swap);
        unrolledTreeHasher.hashPair(pair, 0, 0);
        words.set(pair.subarray(0, 8).map(swap), to);
      },
    };
    expect(chooseTreeHasher('unrolled', swapped).hasher).toBe(nobleTreeHasher);
  });
});
