/** Proofs of inclusion (TIP-0004; docs/protocol.md, B.13), two of them from real networks. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifyZip215 } from '../../../src/stardust/crypto/ed25519.ts';
import { fromHex, Refusal, toHex } from '../../../src/stardust/encoding/bytes.ts';
import { leafHash, merkleRoot, nodeHash } from '../../../src/stardust/proof/merkle.ts';
import {
  type Proof,
  type ProofFileReaders,
  parseProof,
  proofFor,
  rootOfProof,
  verifyInclusion,
  verifyProofFile,
} from '../../../src/stardust/proof/proof.ts';
import { proofFileReaders } from '../../../src/stardust/proof/proof-file.ts';
import { readJson } from '../../support/vectors.ts';

interface ProofFile {
  milestone: { inclusionMerkleRoot: string; signatures: { publicKey: string }[] };
  block: object;
  proof: unknown;
}

const files = ['private-network', 'shimmer-3857880'].map((name) => ({
  name,
  file: readJson(`proofs/${name}.json`) as ProofFile,
}));

const id = (byte: number) => new Uint8Array(32).fill(byte);
const h = (hash: Uint8Array) => ({ h: toHex(hash) });

function rootsOf(inclusionMerkleRoot: string, appliedMerkleRoot: string) {
  return {
    inclusionMerkleRoot: fromHex(inclusionMerkleRoot),
    appliedMerkleRoot: fromHex(appliedMerkleRoot),
  };
}

/** Trusts the keys that signed the milestone as it was recorded, all of them. */
function readersFor({ milestone: { signatures } }: ProofFile): ProofFileReaders {
  const keys = signatures.map(({ publicKey }) => fromHex(publicKey));
  const trusted = keys.map((publicKey) => ({ publicKey, first: 0, last: 0 }));
  return proofFileReaders(
    () => ({ keys: trusted, threshold: keys.length }),
    async (...signed) => verifyZip215(...signed),
  );
}

/** A copy of `json` with `change` applied to its hex string number `position`. */
function withChangedHex(
  json: unknown,
  position: number,
  change: (text: string) => string,
): { changed: unknown; count: number } {
  let count = 0;
  const text = JSON.stringify(json, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith('0x') && count++ === position
      ? change(value)
      : value,
  );
  return { changed: JSON.parse(text), count };
}

function flipBit(text: string, bit: number): string {
  const bytes = fromHex(text);
  bytes[(bit >> 3) % bytes.length]! ^= 1 << (bit & 7);
  return toHex(bytes);
}

describe('proofFor', () => {
  it('cuts the tree down to the way to one leaf', () => {
    const [a, b, c, d, e] = [id(1), id(2), id(3), id(4), id(5)] as const;
    const left = nodeHash(leafHash(a), leafHash(b));
    const both = nodeHash(left, nodeHash(leafHash(c), leafHash(d)));
    expect(proofFor([a, b, c, d, e], 2)).toEqual({
      l: { l: h(left), r: { l: { value: toHex(c) }, r: h(leafHash(d)) } },
      r: h(leafHash(e)),
    });
    expect(proofFor([a, b, c, d, e], 4)).toEqual({ l: h(both), r: { value: toHex(e) } });
  });

  it('is the leaf alone where the milestone has one block', () => {
    expect(proofFor([id(1)], 0)).toEqual({ value: toHex(id(1)) });
    expect(verifyInclusion({ value: toHex(id(1)) }, id(1), merkleRoot([id(1)]))).toEqual({
      ok: true,
    });
  });

  it.each([-1, 3, 0.5, Number.NaN])('has none for block %d of 3', (index) => {
    expect(() => proofFor([id(1), id(2), id(3)], index)).toThrow(RangeError);
  });

  const block = fc.uint8Array({ minLength: 32, maxLength: 32 });
  const blocks = fc.array(block, { minLength: 1, maxLength: 300, size: 'max' });

  it('makes proofs that verify, and do not with any bit changed', () => {
    fc.assert(
      fc.property(blocks, fc.nat(), fc.nat(), fc.nat(255), (ids, some, position, bit) => {
        const index = some % ids.length;
        const block = ids[index]!;
        const root = merkleRoot(ids);
        const proof = proofFor(ids, index);
        expect(verifyInclusion(proof, block, root)).toEqual({ ok: true });

        const { count } = withChangedHex(proof, -1, String);
        const { changed } = withChangedHex(proof, position % count, (text) => flipBit(text, bit));
        expect(verifyInclusion(changed, block, root).ok).toBe(false);
        expect(verifyInclusion(proof, fromHex(flipBit(toHex(block), bit)), root).ok).toBe(false);
        expect(verifyInclusion(proof, block, fromHex(flipBit(toHex(root), bit))).ok).toBe(false);
      }),
      { numRuns: 60 },
    );
  });

  it('leads to one root from every block', () => {
    const ids = Array.from({ length: 37 }, (_, i) => id(i));
    const roots = ids.map((block, i) =>
      toHex(rootOfProof(parseProof(proofFor(ids, i)).siblings, block)),
    );
    expect(new Set(roots)).toEqual(new Set([toHex(merkleRoot(ids))]));
  });
});

describe('verifyInclusion', () => {
  it('refuses another block and another root', () => {
    const ids = [id(1), id(2), id(3)];
    const proof = proofFor(ids, 1);
    const refused = (reason: string) => ({ ok: false, reason: `B.13: proof ${reason}` });
    expect(verifyInclusion(proof, id(3), merkleRoot(ids))).toEqual(refused('of another block'));
    expect(verifyInclusion(proof, id(2), id(9))).toEqual(refused('leads to another root'));
  });

  it('does not take a node for a leaf', () => {
    const [a, b] = [leafHash(id(1)), leafHash(id(2))];
    const root = merkleRoot([id(1), id(2)]);
    expect(verifyInclusion({ value: toHex(root) }, root, root).ok).toBe(false);
    expect(verifyInclusion({ l: { value: toHex(a) }, r: h(b) }, a, root).ok).toBe(false);
  });

  it('does not take left for right', () => {
    const { l, r } = proofFor([id(1), id(2)], 0) as Extract<Proof, { l: unknown }>;
    expect(verifyInclusion({ l, r }, id(1), merkleRoot([id(1), id(2)])).ok).toBe(true);
    expect(verifyInclusion({ l: r, r: l }, id(1), merkleRoot([id(1), id(2)])).ok).toBe(false);
  });
});

describe('parseProof', () => {
  const leaf = { value: toHex(id(1)) };
  const hash = h(id(2));
  /**
   * A proof of `levels` levels, written as text, because a recursive writer would overflow its
   * stack too.
   */
  const deep = (levels: number): unknown =>
    JSON.parse(
      `${'{"l":'.repeat(levels)}${JSON.stringify(leaf)}${`,"r":${JSON.stringify(hash)}}`.repeat(levels)}`,
    );

  it('reads hex of any case', () => {
    const mixed = { l: { h: `0X${'aB'.repeat(32)}` }, r: { value: `0x${'Cd'.repeat(32)}` } };
    expect(parseProof(mixed)).toEqual({
      id: id(0xcd),
      siblings: [{ side: 'left', hash: id(0xab) }],
    });
  });

  it('gives the siblings from the leaf up', () => {
    const { siblings } = parseProof({ l: h(id(3)), r: { l: leaf, r: hash } });
    expect(siblings).toEqual([
      { side: 'right', hash: id(2) },
      { side: 'left', hash: id(3) },
    ]);
  });

  const wrong: [string, unknown][] = [
    ['nothing', undefined],
    ['null', null],
    ['text', toHex(id(1))],
    ['a list', [leaf, hash]],
    ['an empty object', {}],
    ['a hash alone', hash],
    ['a node without right', { l: leaf }],
    ['a node with null', { l: leaf, r: null }],
    ['a node with lists', { l: [leaf], r: hash }],
    ['two hashes', { l: hash, r: hash }],
    ['two leaves', { l: leaf, r: leaf }],
    ['a node with another field', { l: leaf, r: hash, h: hash.h }],
    ['a leaf that is a node too', { l: leaf, r: hash, value: leaf.value }],
    ['a hash with another field', { l: leaf, r: { ...hash, x: 1 } }],
    ['a leaf with another field', { l: { ...leaf, x: 1 }, r: hash }],
    ['a leaf that is a hash too', { l: { ...leaf, ...hash }, r: leaf }],
    ['a hash that is a number', { l: leaf, r: { h: 5 } }],
    ['a hash that is a list', { l: leaf, r: { h: [toHex(id(1))] } }],
    ['a short hash', { l: leaf, r: { h: `0x${'00'.repeat(31)}` } }],
    ['a long hash', { l: leaf, r: { h: `0x${'00'.repeat(33)}` } }],
    ['a hash without 0x', { l: leaf, r: { h: '00'.repeat(33) } }],
    ['a hash with a line end', { l: leaf, r: { h: `${toHex(id(1))}\n` } }],
    ['a leaf of other digits', { l: { value: `0x${'0g'.repeat(32)}` }, r: hash }],
    ['a leaf that is null', { l: { value: null }, r: hash }],
    ['33 levels', deep(33)],
    ['100,000 levels', deep(100_000)],
  ];

  it.each(wrong)('refuses %s', (_, json) => {
    expect(() => parseProof(json)).toThrow(Refusal);
    expect(verifyInclusion(json, id(1), id(2)).ok).toBe(false);
  });

  it('reads 32 levels', () => {
    expect(parseProof(deep(32)).siblings.length).toBe(32);
  });

  it('refuses or reads, whatever the JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => verifyInclusion(json, id(1), id(2)).ok === false),
    );
  });
});

describe.each(files)('verifyProofFile on $name', ({ file }) => {
  const readers = readersFor(file);
  const blockId = readers.blockId(file.block);

  it('finds the block in its milestone', async () => {
    expect(await verifyProofFile(file, readers)).toEqual({ ok: true });
    expect(await verifyProofFile({ ...file, note: 'ignored' }, readers)).toEqual({ ok: true });
    expect(parseProof(file.proof).id.toHex()).toBe(blockId.toHex());
  });

  it('does not verify with any bit of the proof changed', async () => {
    const { count } = withChangedHex(file.proof, -1, String);
    expect(count).toBeGreaterThanOrEqual(6);
    for (let position = 0; position < count; position++) {
      const { changed } = withChangedHex(file.proof, position, (text) =>
        flipBit(text, 31 * position),
      );
      expect((await verifyProofFile({ ...file, proof: changed }, readers)).ok).toBe(false);
    }
  });

  it('refuses another block', async () => {
    const block = { ...file.block, nonce: '1' };
    const { milestone, proof } = file;
    expect((await verifyProofFile({ milestone, block, proof }, readers)).ok).toBe(false);
    const another = await verifyProofFile({ ...file, blockId: toHex(id(1)) }, readers);
    expect(another).toEqual({ ok: false, reason: 'B.1: block with another ID' });
    expect((await verifyProofFile({ ...file, blockId: null }, readers)).ok).toBe(false);
  });

  it('refuses another root, and a milestone that is not signed', async () => {
    const forged = { ...file.milestone, inclusionMerkleRoot: toHex(leafHash(id(1))) };
    const unsigned = await verifyProofFile({ ...file, milestone: forged }, readers);
    expect(unsigned).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/not properly signed, M-3/),
    });
    const { inclusionMerkleRoot } = file.milestone;
    const otherRoot: ProofFileReaders = {
      ...readers,
      signedRoots: async () => rootsOf(toHex(id(9)), inclusionMerkleRoot),
    };
    expect((await verifyProofFile(file, otherRoot)).ok).toBe(false);
  });

  it('verifies the appliedProof too, against the applied root', async () => {
    const { proof } = file;
    const { inclusionMerkleRoot } = file.milestone;
    const applied: ProofFileReaders = {
      ...readers,
      signedRoots: async () => rootsOf(inclusionMerkleRoot, inclusionMerkleRoot),
    };
    expect(await verifyProofFile({ ...file, appliedProof: proof }, applied)).toEqual({ ok: true });
    expect((await verifyProofFile({ ...file, appliedProof: proof }, readers)).ok).toBe(false);
    expect((await verifyProofFile({ ...file, appliedProof: null }, applied)).ok).toBe(false);
  });

  it('refuses what is no proof file, and rethrows other errors', async () => {
    expect((await verifyProofFile(null, readers)).ok).toBe(false);
    expect((await verifyProofFile([file], readers)).ok).toBe(false);
    const blockId = () => {
      throw new TypeError('a mistake of the caller');
    };
    await expect(verifyProofFile(file, { ...readers, blockId })).rejects.toThrow(TypeError);
  });
});
