/**
 * The Merkle path of a block to a signed root, level by level (docs/protocol.md, B.13): what the
 * node's proof says, and what the IDs of the milestone's blocks give.
 */
import { equalBytes, fromHex, toHex } from '../../src/stardust/encoding/bytes.ts';
import {
  HASH_BYTES,
  hashLeaves,
  leafHash,
  merkleRootOfLeaves,
  nodeHash,
} from '../../src/stardust/proof/merkle.ts';
import { parseProof } from '../../src/stardust/proof/proof.ts';

export interface Level {
  /** On which side of our hash the sibling is. */
  side: 'left' | 'right';
  /** The sibling's hash, as the node's proof has it. */
  sibling: string;
  /** Positions of the first and last block below the sibling; undefined without the IDs. */
  covers: readonly [number, number] | undefined;
  /** Whether the sibling is the hash of those blocks; undefined without the IDs. */
  isRight: boolean | undefined;
  /** The hash of both, with which the next level goes on. */
  hash: string;
}

export interface MerklePath {
  /** The hash of the block's ID. */
  leaf: string;
  levels: readonly Level[];
  signedRoot: string;
  /** Whether the path leads to the signed root. */
  leadsToRoot: boolean;
}

/**
 * Hashes the path of a block. Throws a Refusal if `proof` is no proof, or one of another block.
 *
 * @param proof JSON of the node
 * @param ids all leaves of the tree, in order; empty if they are not known
 * @param signedRoot 0x-hex
 */
export function hashPath(
  proof: unknown,
  blockId: string,
  ids: readonly string[],
  signedRoot: string,
): MerklePath {
  const { id, siblings } = parseProof(proof);
  if (toHex(id) !== blockId) throw new Error(`This is the proof of block ${toHex(id)}.`);
  const place = ids.indexOf(blockId);
  const covered = place < 0 ? [] : siblingRanges(0, ids.length, place);
  const leaves = hashLeaves(ids.map(fromHex));
  let hash: Uint8Array = leafHash(id);
  const leaf = toHex(hash);
  const levels = siblings.map(({ side, hash: sibling }, i): Level => {
    hash = side === 'left' ? nodeHash(sibling, hash) : nodeHash(hash, sibling);
    const range = covered[i];
    const expected =
      range && merkleRootOfLeaves(leaves.subarray(range.from * HASH_BYTES), range.count);
    return {
      side,
      sibling: toHex(sibling),
      covers: range && [range.from, range.from + range.count - 1],
      isRight: expected && range.side === side && equalBytes(expected, sibling),
      hash: toHex(hash),
    };
  });
  return { leaf, levels, signedRoot, leadsToRoot: toHex(hash) === signedRoot };
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
