/**
 * BLAKE2b-256 by one instance (RFC 7693), compared with @noble/hashes as it is documented.
 */
import { blake2b } from '@noble/hashes/blake2.js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { blake2b256 } from '../../../src/stardust/crypto/hash.ts';
import { hashLeaf } from '../../../src/stardust/proof/tree-hash.ts';

const noble = (bytes: Uint8Array) => Uint8Array.from(blake2b(bytes, { dkLen: 32 }));

it('hashes as @noble/hashes does, at every length around the blocks of 128 bytes', () => {
  for (let length = 0; length <= 520; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 167 + length) & 0xff);
    expect(blake2b256(bytes)).toEqual(noble(bytes));
  }
});

it('hashes any bytes, wherever they begin in their buffer, whatever was hashed before', () => {
  const message = fc.tuple(fc.uint8Array({ maxLength: 700 }), fc.nat(9), fc.boolean());
  fc.assert(
    fc.property(fc.array(message, { minLength: 1, maxLength: 6 }), (messages) => {
      for (const [bytes, offset, leafFirst] of messages) {
        const buffer = new Uint8Array(offset + bytes.length);
        buffer.set(bytes, offset);
        if (leafFirst) hashLeaf(new Uint8Array(32), new Uint32Array(8), 0);
        expect(blake2b256(buffer.subarray(offset))).toEqual(noble(bytes));
      }
    }),
  );
});

it('hashes on after bytes that are none', () => {
  expect(() => blake2b256('00' as unknown as Uint8Array)).toThrow(TypeError);
  expect(blake2b256(new Uint8Array(3))).toEqual(noble(new Uint8Array(3)));
});

it('gives a hash that later ones do not change', () => {
  const first = blake2b256(Uint8Array.of(1));
  const copy = first.slice();
  blake2b256(Uint8Array.of(2));
  expect(first).toEqual(copy);
});
