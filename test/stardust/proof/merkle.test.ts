/**
 * White-flag Merkle roots (TIP-0004; docs/protocol.md, B.13, B.14, H.2).
 *
 * The oracle shares only noble's compression with the code that it tests.
 */
import { blake2b } from '@noble/hashes/blake2.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import {
  hashLeaves,
  leafHash,
  merkleRoot,
  merkleRootOfLeaves,
  nodeHash,
} from '../../../src/stardust/proof/merkle.ts';
import { merkleRootByDefinition } from '../../support/oracle/merkle.ts';
import { readLines } from '../../support/vectors.ts';

const noble = (...parts: Uint8Array[]) => blake2b(Buffer.concat(parts), { dkLen: 32 });

const numbered = (count: number) =>
  Array.from({ length: count }, (_, i) => noble(new Uint8Array(Uint32Array.of(i).buffer)));
const firstByte = (byte: number) => Uint8Array.of(byte, ...new Uint8Array(31));
const joined = (hashes: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(hashes));
const block = fc.uint8Array({ minLength: 32, maxLength: 32 });

const vectors = readLines('merkle.jsonl') as { leaves: number; root: string }[];
const ids = numbered(Math.max(...vectors.map(({ leaves }) => leaves)));
const leafHashes = joined(ids.map(leafHash));
/** Leaves that take long to hash. */
const MANY = 2000;
const fewLeaves = vectors.filter(({ leaves }) => leaves < MANY);

describe('the recorded roots', () => {
  it('are of trees from none to 100,000 leaves', () => {
    expect(vectors.length).toBe(148);
    expect([vectors.at(0)!.leaves, vectors.at(-1)!.leaves]).toEqual([0, 100_000]);
  });

  it('are the definition', () => {
    for (const { leaves, root } of fewLeaves)
      expect([leaves, `0x${merkleRootByDefinition(ids.slice(0, leaves)).toHex()}`]).toEqual([
        leaves,
        root,
      ]);
  });
});

describe('merkleRoot', () => {
  it('gives the recorded roots', () => {
    for (const { leaves, root } of process.env.SLOW ? vectors : fewLeaves) {
      const made = [merkleRoot(ids.slice(0, leaves)), merkleRootOfLeaves(leafHashes, leaves)];
      expect([leaves, ...made.map(toHex)]).toEqual([leaves, root, root]);
    }
  });

  it('is the definition for every count of leaves', () => {
    fc.assert(
      fc.property(fc.array(block, { maxLength: 300, size: 'max' }), (blocks) => {
        const root = merkleRootByDefinition(blocks).toHex();
        expect(merkleRoot(blocks).toHex()).toBe(root);
        expect(merkleRootOfLeaves(joined(blocks.map(leafHash)), blocks.length).toHex()).toBe(root);
      }),
      { numRuns: 30 },
    );
  });

  it('depends on every leaf and on their order', () => {
    const blocks = [1, 2, 3, 4, 5, 6, 7].map(firstByte);
    const variants = [
      blocks,
      blocks.toReversed(),
      ...blocks.map((_, i) => blocks.with(i, firstByte(99))),
    ];
    expect(new Set(variants.map((variant) => merkleRoot(variant).toHex())).size).toBe(9);
  });
});

describe('merkleRootOfLeaves', () => {
  const leaves = joined(numbered(21));

  it('leaves its input as it is', () => {
    const before = leaves.slice();
    merkleRootOfLeaves(leaves, 21);
    expect(leaves).toEqual(before);
  });

  it('reads the first leaves of a longer buffer, from any address', () => {
    const root = merkleRootOfLeaves(leaves.slice(0, 13 * 32), 13);
    expect(merkleRootOfLeaves(leaves, 13)).toEqual(root);
    for (const offset of [1, 2, 3]) {
      const shifted = new Uint8Array(offset + leaves.length).subarray(offset);
      shifted.set(leaves);
      expect(merkleRootOfLeaves(shifted, 13)).toEqual(root);
    }
  });

  it.each([22, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])(
    'refuses to make a root of %d leaves out of 21',
    (count) => {
      expect(() => merkleRootOfLeaves(leaves, count)).toThrow(/are not .* leaf hashes/);
    },
  );

  it('does not read past the leaves into the rest of their buffer', () => {
    expect(() => merkleRootOfLeaves(leaves.subarray(0, 13 * 32), 14)).toThrow(RangeError);
  });
});

describe('leafHash and nodeHash', () => {
  it('put their tag first', () => {
    const [left, right] = numbered(2) as [Uint8Array, Uint8Array];
    expect(leafHash(left).toHex()).toBe(Buffer.from(noble(Uint8Array.of(0), left)).toString('hex'));
    expect(nodeHash(left, right).toHex()).toBe(
      Buffer.from(noble(Uint8Array.of(1), left, right)).toString('hex'),
    );
  });

  it('agree with hashLeaves on any IDs, nodes hashed in between', () => {
    fc.assert(
      fc.property(fc.array(block, { maxLength: 4 }), (ids) => {
        const hashes = joined(ids.map((id) => new Uint8Array(noble(Uint8Array.of(0), id))));
        expect(hashLeaves(ids).toHex()).toBe(hashes.toHex());
        merkleRoot(ids);
        expect(hashLeaves(ids).toHex()).toBe(hashes.toHex());
      }),
    );
  });

  it.each([0, 31, 33])('hashLeaves refuses an ID of %i bytes', (bytes) => {
    expect(() => hashLeaves([new Uint8Array(bytes)])).toThrow(RangeError);
  });
});
