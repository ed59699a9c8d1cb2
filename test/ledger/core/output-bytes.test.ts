/** Contents of outputs as D1 holds them (src/ledger/core/output-bytes.ts). */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LedgerDamaged } from '../../../src/ledger/core/checksum.ts';
import { readOutputBytes, writeOutputBytes } from '../../../src/ledger/core/output-bytes.ts';

const ID = `${'ab'.repeat(32)}0000`;

it('are read as they were written', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(readOutputBytes(writeOutputBytes(bytes), ID)).toEqual(bytes);
    }),
  );
});

it('are damaged after any bit was flipped, unless they are the same all the same', () => {
  const seen = { damaged: 0 };
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(), fc.nat(6), (bytes, seed, bit) => {
      const text = writeOutputBytes(bytes);
      const at = seed % text.length;
      const flipped = String.fromCharCode(text.charCodeAt(at) ^ (1 << bit));
      try {
        // the last character may have bits that stand for nothing
        const read = readOutputBytes(text.slice(0, at) + flipped + text.slice(at + 1), ID);
        expect(read).toEqual(bytes);
      } catch (error) {
        expect(error).toBeInstanceOf(LedgerDamaged);
        seen.damaged++;
      }
    }),
    { numRuns: 1000 },
  );
  expect(seen.damaged).toBeGreaterThan(900);
});

it('cut short are damaged', () => {
  const text = writeOutputBytes(new Uint8Array(29)); // 36 bytes: no padding
  for (let length = 0; length < text.length; length++)
    expect(() => readOutputBytes(text.slice(0, length), ID)).toThrow(LedgerDamaged);
});
