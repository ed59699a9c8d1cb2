/** Judges Merkle paths to a signed root: the block is included, or was applied (B.13). */
import { equalBytes, fromHex, toHex } from '../encoding/bytes.ts';
import { caughtRefusal } from '../error.ts';
import { HASH_BYTES, hashLeaves, merkleRootOfLeaves } from '../proof/merkle.ts';
import { hashLevels, parseProof, rootOfProof, type Sibling } from '../proof/proof.ts';
import type { BlockFacts } from './blocks.ts';
import type { Order } from './cone.ts';
import type { SignedMilestone } from './milestone.ts';
import { type Finding, type Proved, prove, provedValue, refute } from './proved.ts';

/** A block is among those that a milestone references. */
export interface Inclusion {
  milestone: SignedMilestone;
  block: BlockFacts;
  /** Hashes from the leaf to the root, both included. */
  hashes: number;
}

export type SignedRoot = 'inclusionMerkleRoot' | 'appliedMerkleRoot';

/**
 * Judges whether a path leads from a block to a signed root: to the inclusion root, the milestone
 * references the block; to the applied root, its transaction was applied.
 *
 * @param path JSON of a node
 */
export function provePath(
  signed: Proved<SignedMilestone>,
  proved: Proved<BlockFacts>,
  path: unknown,
  root: SignedRoot,
): Finding<Inclusion> {
  const [milestone, block] = [provedValue(signed), provedValue(proved)];
  if (root === 'appliedMerkleRoot' && block.payload !== 'transaction')
    return refute('the block carries no transaction, so none was applied', [block.blockId]);
  const read = readPath(path, block.blockId);
  if ('refused' in read) return refute(read.refused, [block.blockId]);
  const found = rootOfProof(read.siblings, fromHex(block.blockId));
  return toHex(found) === milestone[root]
    ? prove({ milestone, block, hashes: read.siblings.length + 1 })
    : refute('the path does not lead to the signed root', [block.blockId]);
}

export interface Level {
  /** Side of our hash on which the sibling is. */
  side: 'left' | 'right';
  /** The sibling's hash, as the node's path has it. */
  sibling: string;
  /** Places of the first and last block below the sibling; undefined without the order. */
  covers: readonly [number, number] | undefined;
  /** Whether the sibling is the hash of those blocks; undefined without the order. */
  isRight: boolean | undefined;
  /** The hash of both, with which the next level goes on. */
  hash: string;
}

/**
 * Returns the levels of a path, from the leaf up; undefined if it is no path of this block.
 *
 * @param order all blocks of the milestone, where they were proved
 */
export function levelsOf(
  path: unknown,
  blockId: string,
  order: Proved<Order> | undefined,
): { leaf: string; levels: readonly Level[] } | undefined {
  const read = readPath(path, blockId);
  if ('refused' in read) return undefined;
  const { siblings } = read;
  const ids = order === undefined ? [] : provedValue(order).blockIds;
  const place = ids.indexOf(blockId);
  const covered = place < 0 ? [] : siblingRanges(0, ids.length, place);
  const leaves = hashLeaves(ids.map(fromHex));
  const [leaf, ...hashes] = hashLevels(siblings, fromHex(blockId));
  const levels = siblings.map(({ side, hash: sibling }, i): Level => {
    const range = covered[i];
    const expected =
      range && merkleRootOfLeaves(leaves.subarray(range.from * HASH_BYTES), range.count);
    return {
      side,
      sibling: toHex(sibling),
      covers: range && [range.from, range.from + range.count - 1],
      isRight: expected && range.side === side && equalBytes(expected, sibling),
      hash: toHex(hashes[i]!),
    };
  });
  return { leaf: toHex(leaf!), levels };
}

function readPath(path: unknown, blockId: string): { siblings: Sibling[] } | { refused: string } {
  try {
    const { id, siblings } = parseProof(path);
    return toHex(id) === blockId
      ? { siblings }
      : { refused: `this is the proof of block ${toHex(id)}, which was not asked for` };
  } catch (error) {
    return { refused: caughtRefusal(error).reason };
  }
}

interface Range {
  side: 'left' | 'right';
  from: number;
  count: number;
}

/** The leaves below each sibling of a leaf, from the leaf up. */
function siblingRanges(from: number, count: number, place: number): Range[] {
  if (count === 1) return [];
  // the largest power of two below the number of leaves
  const split = 1 << (31 - Math.clz32(count - 1));
  return place < split
    ? [
        ...siblingRanges(from, split, place),
        { side: 'right', from: from + split, count: count - split },
      ]
    : [
        ...siblingRanges(from + split, count - split, place - split),
        { side: 'left', from, count: split },
      ];
}
