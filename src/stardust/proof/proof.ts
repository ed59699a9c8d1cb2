/**
 * Proofs of inclusion: that a block belongs to a milestone, by the audit path from its ID to the
 * milestone's signed inclusion root (TIP-0004; docs/protocol.md, B.13).
 *
 * The JSON is that of HORNET's plug-in inx-poi (https://github.com/iotaledger/inx-poi): the tree,
 * reduced to the path to one leaf. `{l, r}` is a node, `{h}` the hash of a subtree that is not on
 * the path, `{value}` the block ID at its end. Proofs come from untrusted sources, so they are read
 * strictly and without recursion.
 */
import { equalBytes, fromHex, Refusal, toHex } from '../encoding/bytes.ts';
import { BadJson } from '../encoding/json-object.ts';
import type { Milestone } from '../wire/milestone.ts';
import { HASH_BYTES, hashLeaves, leafHash, merkleRootOfLeaves, nodeHash } from './merkle.ts';

/**
 * A proof as JSON, byte strings in hex. If the milestone references a single block, the proof is
 * the leaf.
 */
export type Proof = { value: string } | { l: Proof | CutAway; r: Proof | CutAway };
type CutAway = { h: string };

/** A subtree beside the path: its 32-byte hash, and the side on which it is. */
export interface Sibling {
  side: 'left' | 'right';
  hash: Uint8Array;
}

export type ProofVerdict = { ok: true } | { ok: false; reason: string };

// A tree of this depth has room for four billion blocks, more than any milestone references.
const MAX_DEPTH = 32;

/**
 * The proof for the block `ids[index]`. `ids` are 32-byte block IDs in white-flag order. Throws a
 * RangeError if `index` is not a position in `ids`.
 *
 * @param leafHashes as {@link hashLeaves} gives them, for who has them already
 */
export function proofFor(
  ids: readonly Uint8Array[],
  index: number,
  leafHashes = hashLeaves(ids),
): Proof {
  const id = ids[index];
  if (id === undefined) throw new RangeError(`no block ${index} among ${ids.length}`);
  if (ids.length === 1) return { value: toHex(id) };
  // B.13: the largest power of two below the length
  const split = 1 << (31 - Math.clz32(ids.length - 1));
  const left = leafHashes.subarray(0, split * HASH_BYTES);
  const right = leafHashes.subarray(split * HASH_BYTES);
  const cutAway = (hashes: Uint8Array, count: number): CutAway => {
    return { h: toHex(merkleRootOfLeaves(hashes, count)) };
  };
  return index < split
    ? { l: proofFor(ids.slice(0, split), index, left), r: cutAway(right, ids.length - split) }
    : { l: cutAway(left, split), r: proofFor(ids.slice(split), index - split, right) };
}

/**
 * The proof for the block `ids[index]` in the tree over the blocks at these places alone, ascending:
 * those whose transactions were applied, for example. Undefined if it is none of them.
 *
 * @param leafHashes as of {@link proofFor}, of all `ids`
 */
export function proofAmong(
  ids: readonly Uint8Array[],
  places: readonly number[],
  index: number,
  leafHashes: Uint8Array = hashLeaves(ids),
): Proof | undefined {
  const place = places.indexOf(index);
  if (place === -1) return undefined;
  const hashes = new Uint8Array(places.length * HASH_BYTES);
  for (const [i, at] of places.entries())
    hashes.set(leafHashes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES), i * HASH_BYTES);
  const among = places.map((at) => ids[at]!);
  return proofFor(among, place, hashes);
}

/**
 * Reads a proof: the block ID, and the siblings on its path from the leaf up. Throws a {@link
 * Refusal} if `json` is not a proof.
 */
export function parseProof(json: unknown): { id: Uint8Array; siblings: Sibling[] } {
  const siblings: Sibling[] = [];
  let node = asObject(json);
  while (!Object.hasOwn(node, 'value')) {
    if (siblings.length === MAX_DEPTH)
      throw new Refusal('B.13', `proof of more than ${MAX_DEPTH} levels`);
    requireFields(node, 'l', 'r');
    const left = asObject(node.l);
    const right = asObject(node.r);
    // One side must be a hash, the other leads on. If neither is a hash, this turn refuses; if both
    // are, the next turn does.
    const side = Object.hasOwn(left, 'h') ? 'left' : 'right';
    const [cutAway, way] = side === 'left' ? [left, right] : [right, left];
    requireFields(cutAway, 'h');
    siblings.push({ side, hash: bytes32(cutAway.h) });
    node = way;
  }
  requireFields(node, 'value');
  return { id: bytes32(node.value), siblings: siblings.reverse() };
}

/**
 * The 32-byte root of the tree in which the block with this ID has these siblings, given from the
 * leaf up.
 */
export function rootOfProof(siblings: readonly Sibling[], id: Uint8Array): Uint8Array {
  let root = leafHash(id);
  for (const { side, hash } of siblings)
    root = side === 'left' ? nodeHash(hash, root) : nodeHash(root, hash);
  return root;
}

/**
 * Whether `proof`, untrusted JSON, shows that the block with this ID is in the tree with this root
 * (32 bytes each).
 */
export function verifyInclusion(proof: unknown, id: Uint8Array, root: Uint8Array): ProofVerdict {
  try {
    const parsed = parseProof(proof);
    if (!equalBytes(parsed.id, id)) return { ok: false, reason: 'B.13: proof of another block' };
    const isRoot = equalBytes(rootOfProof(parsed.siblings, id), root);
    return isRoot ? { ok: true } : { ok: false, reason: 'B.13: proof leads to another root' };
  } catch (error) {
    return refused(error);
  }
}

/**
 * What {@link verifyProofFile} needs of its caller, who knows JSON forms and keys. Both functions
 * throw a {@link Refusal} if there is no answer.
 */
export interface ProofFileReaders {
  /** The 32-byte ID (B.1) of a block in JSON form. */
  blockId(block: unknown): Uint8Array;
  /** The roots of a milestone in JSON form, if keys that the caller trusts signed it (M-2, M-3). */
  signedRoots(
    milestone: unknown,
  ): Promise<Pick<Milestone, 'inclusionMerkleRoot' | 'appliedMerkleRoot'>>;
}

/**
 * Whether a proof file `{milestone, block, proof}`, untrusted JSON, shows that its milestone
 * references its block.
 *
 * If the file has an `appliedProof`, it must show that the block's transaction was applied. If it
 * has a `blockId`, it must be the ID of the block. Other fields are ignored.
 */
export async function verifyProofFile(
  file: unknown,
  readers: ProofFileReaders,
): Promise<ProofVerdict> {
  try {
    const { milestone, block, proof, appliedProof, blockId } = asObject(file);
    const id = readers.blockId(block);
    const isNamed = blockId === undefined || equalBytes(bytes32(blockId), id);
    if (!isNamed) return { ok: false, reason: 'B.1: block with another ID' };
    const { inclusionMerkleRoot, appliedMerkleRoot } = await readers.signedRoots(milestone);
    const included = verifyInclusion(proof, id, inclusionMerkleRoot);
    return included.ok && appliedProof !== undefined
      ? verifyInclusion(appliedProof, id, appliedMerkleRoot)
      : included;
  } catch (error) {
    return refused(error);
  }
}

function refused(error: unknown): ProofVerdict {
  if (error instanceof Refusal || error instanceof BadJson)
    return { ok: false, reason: error.message };
  throw error;
}

function asObject(json: unknown): Record<string, unknown> {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new Refusal('B.13', 'proof with a part that is no object');
  }
  return json as Record<string, unknown>;
}

function requireFields(node: Record<string, unknown>, ...names: readonly string[]): void {
  if (
    Object.keys(node).length !== names.length ||
    !names.every((name) => Object.hasOwn(node, name))
  ) {
    throw new Refusal('B.13', `part of a proof with other fields than ${names.join(' and ')}`);
  }
}

function bytes32(json: unknown): Uint8Array {
  if (typeof json !== 'string' || !/^0[xX][0-9a-fA-F]{64}$/.test(json)) {
    throw new Refusal('B.13', 'hash that is not 0x and 64 hex digits');
  }
  return fromHex(json);
}
