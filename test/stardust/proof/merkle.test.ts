/**
 * White-flag Merkle roots (TIP-0004; docs/protocol.md, B.13, B.14, H.2).
 *
 * The oracle is the definition of B.13, word for word, over @noble/hashes; it shares only
 * noble's compression with the code that it tests.
 */
import { blake2b } from '@noble/hashes/blake2.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  hashLeaves,
  leafHash,
  merkleRoot,
  merkleRootOfLeaves,
  nodeHash,
} from '../../../src/stardust/proof/merkle.ts';
import { readLines } from '../../support/vectors.ts';

const noble = (...parts: Uint8Array[]) => blake2b(Buffer.concat(parts), { dkLen: 32 });

function definition(ids: readonly Uint8Array[]): Uint8Array {
  if (ids.length === 0) return noble();
  if (ids.length === 1) return noble(Uint8Array.of(0), ids[0]!);
  let k = 1;
  while (k * 2 < ids.length) k *= 2;
  return noble(Uint8Array.of(1), definition(ids.slice(0, k)), definition(ids.slice(k)));
}

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

  it.each(fewLeaves)('are the definition of $leaves leaves', ({ leaves, root }) => {
    expect(`0x${definition(ids.slice(0, leaves)).toHex()}`).toBe(root);
  });
});

describe('merkleRoot', () => {
  it.each(vectors)('gives the recorded root of $leaves leaves', ({ leaves, root }) => {
    expect(`0x${merkleRoot(ids.slice(0, leaves)).toHex()}`).toBe(root);
    expect(`0x${merkleRootOfLeaves(leafHashes, leaves).toHex()}`).toBe(root);
  });

  it('gives the roots of B.14', () => {
    const roots = [
      '0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8',
      '6e02ac5b501ce6f9a0ef3cb7026073505ce6b755f014f64738483f63c5d1b5c7',
      'b5d7656f248b089aee023cd4947dac246230976e3f6181d995335ed38562df66',
      '013c22671b453b678b26ece0d7f7e1183215fd28b64a30e44e9e0e7e4e4cc2a3',
      '846c282ace64da3f27df7aaa7865ec7431932baefa43d34075af416c68c030c0',
      '7b018f1f4b985f3d2bb14017263a5fb1373b5cd3f0e6bdad08005685c8096f8e',
    ];
    const blocks = [1, 2, 3, 4, 5].map(firstByte);
    expect(roots.map((_, count) => merkleRoot(blocks.slice(0, count)).toHex())).toEqual(roots);
  });

  it('gives the root of the seven leaves of TIP-0004', () => {
    const leaves = [
      '52fdfc072182654f163f5f0f9a621d729566c74d10037c4d7bbb0407d1e2c649',
      '81855ad8681d0d86d1e91e00167939cb6694d2c422acd208a0072939487f6999',
      'eb9d18a44784045d87f3c67cf22746e995af5a25367951baa2ff6cd471c483f1',
      '5fb90badb37c5821b6d95526a41a9504680b4e7c8b763a1b1d49d4955c848621',
      '6325253fec738dd7a9e28bf921119c160f0702448615bbda08313f6a8eb668d2',
      '0bf5059875921e668a5bdf2c7fc4844592d2572bcd0668d2d6c52f5054e2d083',
      '6bf84c7174cb7476364cc3dbd968b0f7172ed85794bb358b0c3b525da1786f9f',
    ];
    expect(merkleRoot(leaves.map((leaf) => Uint8Array.fromHex(leaf))).toHex()).toBe(
      'bf67ce7ba23e8c0951b5abaec4f5524360d2c26d971ff226d3359fa70cdb0beb',
    );
  });

  it('is the definition for every count of leaves', () => {
    fc.assert(
      fc.property(fc.array(block, { maxLength: 600, size: 'max' }), (blocks) => {
        const root = Buffer.from(definition(blocks)).toString('hex');
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
