/** Proofs of inclusion (TIP-0004; docs/protocol.md, B.13), two of them from real networks. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockFromJson, encodeBlock } from '../../../src/stardust/block.ts';
import { blake2b256 } from '../../../src/stardust/crypto/hash.ts';
import { fromHex, toHex, Writer } from '../../../src/stardust/encoding/bytes.ts';
import { StardustError } from '../../../src/stardust/error.ts';
import type { MilestoneKeys } from '../../../src/stardust/milestone-keys.ts';
import { outputFromJson } from '../../../src/stardust/output.ts';
import { leafHash, merkleRoot, nodeHash } from '../../../src/stardust/proof/merkle.ts';
import {
  type Proof,
  parseProof,
  proofFor,
  rootOfProof,
  verifyInclusion,
  verifyPath,
} from '../../../src/stardust/proof/proof.ts';
import { readJson } from '../../support/vectors.ts';

interface ProofFile {
  milestone: {
    index: number;
    timestamp: number;
    protocolVersion: number;
    previousMilestoneId: string;
    parents: string[];
    inclusionMerkleRoot: string;
    appliedMerkleRoot: string;
    metadata?: string;
    signatures: { publicKey: string; signature: string }[];
  };
  block: {
    protocolVersion: number;
    parents: string[];
    payload: { tag: string; data: string };
    nonce: string;
  };
  proof: unknown;
  blockId?: string;
}

const files = {
  'private-network': readJson('proofs/private-network.json') as ProofFile,
  'shimmer-3857880': readJson('proofs/shimmer-3857880.json') as ProofFile,
};

const id = (byte: number) => new Uint8Array(32).fill(byte);
const h = (hash: Uint8Array) => ({ h: toHex(hash) });

/**
 * A block with tagged data, in binary (A.1, A.2), written down here so that this test needs no
 * codec.
 */
function blockBytes({ protocolVersion, parents, payload, nonce }: ProofFile['block']): Uint8Array {
  const tag = fromHex(payload.tag);
  const data = fromHex(payload.data);
  const writer = new Writer().u8(protocolVersion).u8(parents.length);
  for (const parent of parents) writer.put(fromHex(parent));
  writer.u32(4 + 1 + tag.length + 4 + data.length).u32(5);
  return writer.u8(tag.length).put(tag).u32(data.length).put(data).u64(BigInt(nonce)).finish();
}

/** The keys that signed a file as it was recorded. */
function keysOf({ milestone: { signatures } }: ProofFile): MilestoneKeys {
  const keys = signatures.map((each) => ({
    publicKey: fromHex(each.publicKey),
    first: 0,
    last: 0,
  }));
  return { keys, threshold: keys.length };
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
    const [a, b, c, d, e] = [1, 2, 3, 4, 5].map(id) as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
      Uint8Array,
      Uint8Array,
    ];
    const left = nodeHash(leafHash(a), leafHash(b));
    const both = nodeHash(left, nodeHash(leafHash(c), leafHash(d)));
    expect(proofFor([a, b, c, d, e], 2)).toEqual({
      l: { l: h(left), r: { l: { value: toHex(c) }, r: h(leafHash(d)) } },
      r: h(leafHash(e)),
    });
    expect(proofFor([a, b, c, d, e], 4)).toEqual({ l: h(both), r: { value: toHex(e) } });
  });

  it('has one side where the milestone has one block, as Chronicle writes it', () => {
    const leaf = { value: toHex(id(1)) };
    expect(proofFor([id(1)], 0)).toEqual({ l: leaf });
    const verify = (proof: unknown) => verifyPath(proof, id(1), merkleRoot([id(1)])).ok;
    // the leaf by itself is how 0.2.0 wrote it
    for (const proof of [{ l: leaf }, { l: leaf, r: null }, leaf])
      expect([proof, verify(proof)]).toEqual([proof, true]);
    const node = { l: leaf, r: h(id(2)) };
    for (const proof of [
      { r: leaf },
      { l: null, r: leaf },
      { l: node },
      { l: { l: leaf } },
      { l: leaf, h: id(2) },
      { l: h(id(1)) },
      {},
    ])
      expect([proof, verify(proof)]).toEqual([proof, false]);
  });

  it.each([-1, 3, 0.5, Number.NaN])('has none for block %d of 3', (index) => {
    expect(() => proofFor([id(1), id(2), id(3)], index)).toThrow(RangeError);
  });

  const cases = fc
    .array(fc.uint8Array({ minLength: 32, maxLength: 32 }), {
      minLength: 1,
      maxLength: 300,
      size: 'max',
    })
    .chain((ids) =>
      fc.record({
        ids: fc.constant(ids),
        index: fc.nat(ids.length - 1),
        position: fc.nat(),
        bit: fc.nat(255),
      }),
    );

  it('makes proofs that verify, and do not with any bit changed', () => {
    fc.assert(
      fc.property(cases, ({ ids, index, position, bit }) => {
        const block = ids[index]!;
        const root = merkleRoot(ids);
        const proof = proofFor(ids, index);
        expect(verifyPath(proof, block, root)).toEqual({ ok: true });

        const { count } = withChangedHex(proof, -1, String);
        const { changed } = withChangedHex(proof, position % count, (text) => flipBit(text, bit));
        expect(verifyPath(changed, block, root).ok).toBe(false);
        expect(verifyPath(proof, fromHex(flipBit(toHex(block), bit)), root).ok).toBe(false);
        expect(verifyPath(proof, block, fromHex(flipBit(toHex(root), bit))).ok).toBe(false);
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

describe('verifyPath', () => {
  it('refuses another block and another root', () => {
    const ids = [id(1), id(2), id(3)];
    const proof = proofFor(ids, 1);
    expect(verifyPath(proof, id(3), merkleRoot(ids))).toEqual({
      ok: false,
      reason: 'B.13: proof of another block',
    });
    expect(verifyPath(proof, id(2), id(9))).toEqual({
      ok: false,
      reason: 'B.13: proof leads to another root',
    });
  });

  it('does not take a node for a leaf', () => {
    const [a, b] = [leafHash(id(1)), leafHash(id(2))];
    const root = merkleRoot([id(1), id(2)]);
    expect(verifyPath({ value: toHex(root) }, root, root).ok).toBe(false);
    expect(verifyPath({ l: { value: toHex(a) }, r: h(b) }, a, root).ok).toBe(false);
  });

  it('does not take left for right', () => {
    const { l, r } = proofFor([id(1), id(2)], 0) as Extract<Proof, { r: unknown }>;
    expect(verifyPath({ l, r }, id(1), merkleRoot([id(1), id(2)])).ok).toBe(true);
    expect(verifyPath({ l: r, r: l }, id(1), merkleRoot([id(1), id(2)])).ok).toBe(false);
  });
});

it('takes null for a payload that a block or an essence lacks, as iota.go does', () => {
  const bare = { protocolVersion: 2, parents: [toHex(id(1))], nonce: '7' };
  const tagged = (data: unknown) => ({ ...bare, payload: { type: 5, tag: '0x01', data } });
  const encoded = (json: unknown) => encodeBlock(blockFromJson(json)).toHex();
  expect(encoded({ ...bare, payload: null })).toBe(encoded(bare));
  expect(encoded(tagged(null))).toBe(encoded(tagged(undefined)));
  expect(() => blockFromJson({ ...bare, parents: [null] })).toThrow(StardustError);
});

it('takes 0X before the amount of a native token, as iota.go does', () => {
  const address = { type: 0, pubKeyHash: toHex(id(1)) };
  const output = (amount: string) => ({
    type: 3,
    amount: '1',
    nativeTokens: [{ id: `0x${'ab'.repeat(38)}`, amount }],
    unlockConditions: [{ type: 0, address }],
  });
  expect(outputFromJson(output('0X1aF')).nativeTokens[0]!.amount).toBe(0x1afn);
  expect(() => outputFromJson(output('0X01'))).toThrow(StardustError);
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
    ['a node without right', { l: hash }],
    ['a node without left', { r: leaf }],
    ['a node with null', { l: hash, r: null }],
    ['a node with null below another', { l: { l: leaf, r: null }, r: hash }],
    ['a node around a whole path', { l: { l: leaf, r: hash } }],
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
    expect(() => parseProof(json)).toThrow(StardustError);
    expect(verifyPath(json, id(1), id(2)).ok).toBe(false);
  });

  it('reads 32 levels', () => {
    expect(parseProof(deep(32)).siblings.length).toBe(32);
  });

  it('refuses or reads, whatever the JSON', () => {
    fc.assert(fc.property(fc.jsonValue(), (json) => verifyPath(json, id(1), id(2)).ok === false));
  });
});

describe.each(Object.entries(files))('verifyInclusion on %s', (_, file) => {
  const keys = keysOf(file);
  const blockId = blake2b256(blockBytes(file.block));
  const refused = (changed: unknown, reason: string | RegExp) =>
    expect(verifyInclusion(changed, keys)).rejects.toThrow(reason);

  it('finds the block in its milestone', async () => {
    for (const each of [file, { ...file, note: 'ignored' }]) {
      const included = await verifyInclusion(each, keys);
      expect(toHex(included.blockId)).toBe(toHex(blockId));
      expect(included.milestone.index).toBe(file.milestone.index);
      expect(included.applied).toBe(undefined);
    }
  });

  it('does not verify with any bit of the proof changed', async () => {
    const { count } = withChangedHex(file.proof, -1, String);
    expect(count).toBeGreaterThanOrEqual(6);
    for (let position = 0; position < count; position++) {
      const { changed } = withChangedHex(file.proof, position, (text) =>
        flipBit(text, 31 * position),
      );
      await refused({ ...file, proof: changed }, /^B\.13: proof (of another block|leads)/);
    }
  });

  it('refuses another block', async () => {
    const block = { ...file.block, nonce: '1' };
    const { milestone, proof } = file;
    await refused({ milestone, block, proof }, 'B.13: proof of another block');
    await refused({ ...file, blockId: toHex(id(1)) }, 'B.1: block with another ID');
    await refused({ ...file, blockId: null }, 'blockId: B.13: hash that is not');
    const parents = file.block.parents.toReversed();
    await refused({ ...file, block: { ...file.block, parents } }, 'B.13: block that is refused, ');
  });

  it('refuses another root, other keys, and a milestone that too few signed', async () => {
    const forged = { ...file.milestone, inclusionMerkleRoot: toHex(leafHash(id(1))) };
    await refused({ ...file, milestone: forged }, /not properly signed, M-3: signature of /);
    const [, ...others] = keys.keys;
    const fewer = { keys: others, threshold: 1 };
    await expect(verifyInclusion(file, fewer)).rejects.toThrow(/M-[23]/);
    const more = { ...keys, threshold: keys.threshold + 1 };
    await expect(verifyInclusion(file, more)).rejects.toThrow('M-2');
    for (const threshold of [0, Number.NaN])
      await expect(verifyInclusion(file, { ...keys, threshold })).rejects.toThrow(RangeError);
  });

  it('verifies the appliedProof too, against the applied root', async () => {
    await refused({ ...file, appliedProof: file.proof }, 'B.13: proof leads to another root');
    await refused({ ...file, appliedProof: null }, 'B.13: proof with a part that is no object');
  });

  it('refuses what is no proof file', async () => {
    await refused(null, 'no object');
    await refused([file], 'no object');
    await refused({ ...file, block: undefined }, 'block: not a JSON object');
    await refused({ ...file, milestone: { ...file.milestone, index: -1 } }, 'milestone: "index"');
  });
});
