/**
 * The checks of the explorer, over trees of each shape and over changed ones, against the recursion
 * of B.13 written down for itself.
 */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  type Claim,
  type ConeBlock,
  checkAppliedRoot,
  checkOrder,
} from '../../explorer/verify/check-cone.ts';
import { hashPath } from '../../explorer/verify/merkle-levels.ts';
import { parseKeys } from '../../explorer/verify/parse-keys.ts';
import { blake2b256 } from '../../src/stardust/crypto/hash.ts';
import { fromHex, toHex } from '../../src/stardust/encoding/bytes.ts';
import { proofFor } from '../../src/stardust/proof/proof.ts';

const idOf = (i: number) => `0x${createHash('sha256').update(String(i)).digest('hex')}`;
const idsOf = (count: number) => Array.from({ length: count }, (_, i) => idOf(i));

/** B.13, as it is defined. */
function rootOf(ids: readonly string[]): Uint8Array {
  if (ids.length === 0) return blake2b256(new Uint8Array());
  if (ids.length === 1) return blake2b256(Uint8Array.from([0, ...fromHex(ids[0]!)]));
  let split = 1;
  while (split * 2 < ids.length) split *= 2;
  return blake2b256(
    Uint8Array.from([1, ...rootOf(ids.slice(0, split)), ...rootOf(ids.slice(split))]),
  );
}

describe('a Merkle path', () => {
  it.each([1, 2, 3, 4, 5, 7, 8, 9, 31, 38])('leads to the root, of %i blocks', (count) => {
    const ids = idsOf(count);
    const root = toHex(rootOf(ids));
    for (const [place, id] of ids.entries()) {
      const proof = proofFor(ids.map(fromHex), place);
      const path = hashPath(proof, id, ids, root);
      expect(path.leadsToRoot).toBe(true);
      for (const { isRight, covers, sibling } of path.levels) {
        expect(isRight).toBe(true);
        const [from, to] = covers!;
        expect(sibling).toBe(toHex(rootOf(ids.slice(from, to + 1))));
      }
      expect(hashPath(proof, id, [], root).levels.map(({ isRight }) => isRight)).toEqual(
        path.levels.map(() => undefined),
      );
    }
  });

  it('names the level that was changed', () => {
    const ids = idsOf(38);
    const proof = JSON.stringify(proofFor(ids.map(fromHex), 5));
    const sibling = /"h":"0x(.)/g;
    const hashes = [...proof.matchAll(sibling)];
    for (const { index } of hashes) {
      const at = index + '"h":"0x'.length;
      const changed = proof.slice(0, at) + (proof[at] === '0' ? '1' : '0') + proof.slice(at + 1);
      const path = hashPath(JSON.parse(changed), ids[5]!, ids, toHex(rootOf(ids)));
      expect(path.leadsToRoot).toBe(false);
      expect(path.levels.filter(({ isRight }) => !isRight)).toHaveLength(1);
    }
  });

  it('of another block is refused', () => {
    const ids = idsOf(3);
    const proof = proofFor(ids.map(fromHex), 0);
    expect(() => hashPath(proof, ids[1]!, ids, ids[0]!)).toThrow(/the proof of block/);
    expect(() => hashPath({ l: 1 }, ids[1]!, ids, ids[0]!)).toThrow(/B\.13/);
  });
});

const claim = (parents: readonly string[], applied: readonly string[]): Claim => ({
  parents,
  inclusionMerkleRoot: '',
  appliedMerkleRoot: toHex(rootOf(applied)),
  whose: 'signed',
});

describe('the order', () => {
  /** A chain of three, and a block beside it. */
  const ids = idsOf(4);
  const [a, b, c, d] = ids as [string, string, string, string];
  const cone = new Map<string, ConeBlock>(
    Object.entries({ [a]: [], [b]: [a], [c]: [b], [d]: [a] }).map(([id, parents]) => [
      id,
      { parents, fault: undefined },
    ]),
  );

  it('is right, or wrong from a place on', () => {
    expect(checkOrder([a, b, c, d], cone, claim([c, d], [])).state).toBe('right');
    const wrong = checkOrder([a, d, b, c], cone, claim([c, d], []));
    expect([wrong.state, wrong.blocks]).toEqual(['wrong', [d, b]]);
    expect(wrong.text).toMatch(/^The order is wrong from place 1 on/);
    expect(checkOrder([a, b, c], cone, claim([c, d], [])).state).toBe('wrong');
  });

  it('is not known while a block is not what it should be', () => {
    const faulty = new Map(cone).set(b, { parents: [], fault: 'other bytes' });
    expect(checkOrder(ids, faulty, claim([c, d], [])).state).toBe('unknown');
  });
});

describe('the applied root', () => {
  const blocks = idsOf(12).map((blockId, i) => ({
    blockId,
    whiteFlagIndex: i,
    payload: 'transaction' as const,
    ledgerInclusionState: i % 3 === 0 ? ('conflicting' as const) : ('included' as const),
  }));
  const applied = blocks
    .filter(({ ledgerInclusionState }) => ledgerInclusionState === 'included')
    .map(({ blockId }) => blockId);

  it('is right', () => {
    expect(checkAppliedRoot(blocks, claim([], applied)).state).toBe('right');
  });

  it.each([0, 4, 11])('names the false verdict on block %i', (place) => {
    const lie = blocks.map((block, i) => ({
      ...block,
      ledgerInclusionState:
        i !== place
          ? block.ledgerInclusionState
          : block.ledgerInclusionState === 'included'
            ? ('conflicting' as const)
            : ('included' as const),
    }));
    const finding = checkAppliedRoot(lie, claim([], applied));
    expect([finding.state, finding.blocks]).toEqual(['wrong', [blocks[place]!.blockId]]);
  });

  it('names none where more than one verdict is false', () => {
    const lie = blocks.map((block) => ({ ...block, ledgerInclusionState: 'included' as const }));
    const finding = checkAppliedRoot(lie, claim([], applied));
    expect([finding.state, finding.blocks]).toEqual(['wrong', []]);
  });
});

describe('keys', () => {
  const key = 'ab'.repeat(32);

  it('are 64 hex digits, in lines or lists', () => {
    expect(parseKeys(` 0x${key}\n${'cd'.repeat(32)}, `, '1')).toMatchObject({ threshold: 1 });
    expect(parseKeys(key, '').threshold).toBe(1);
    expect(parseKeys(`${key} ${key}`, '').threshold).toBe(1);
  });

  it.each([
    ['', '', /No key/],
    [key, '2', /2 signatures cannot come of 1/],
    [key, '0', /1 or more/],
    [key, 'x', /1 or more/],
    [`${key} zz`, '1', /Key 2 is not 64 hex digits: zz/],
  ])('%s with %s are refused', (text, threshold, reason) => {
    expect(() => parseKeys(text, threshold)).toThrow(reason);
  });
});
