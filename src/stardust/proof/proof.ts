/**
 * Proofs of inclusion: a block belongs to a milestone, by the audit path from its ID to the
 * milestone's signed inclusion root, and by keys that the caller trusts (TIP-0004;
 * docs/protocol.md, B.1, B.13, M-2, M-3).
 *
 * The JSON is that of HORNET's plug-in inx-poi (https://github.com/iotaledger/inx-poi): the tree,
 * reduced to the path to one leaf. `{l, r}` is a node, `{h}` the hash of a subtree beside the path,
 * `{value}` the block ID at its end. Untrusted, it is read strictly and without recursion.
 */
import { verifyEd25519 } from '../crypto/ed25519.ts';
import { equalBytes, fromHex, toHex } from '../encoding/bytes.ts';
import { encode } from '../encoding/codec.ts';
import { isAbsent, part } from '../encoding/json-object.ts';
import { caughtRefusal, refusal, StardustError } from '../error.ts';
import { blockFromJson, milestoneFromJson } from '../json/rest-json.ts';
import { type MilestoneKeys, signatureFault, type VerifySignature } from '../milestone-keys.ts';
import { block as blockCodec, decodeBlock, type ParsedBlock } from '../wire/block.ts';
import { decodeMilestone } from '../wire/decode-milestone.ts';
import { type Milestone, milestone as milestoneCodec } from '../wire/milestone.ts';
import { leafHash, merkleRoot, nodeHash } from './merkle.ts';

/**
 * A proof as JSON, byte strings in hex. A milestone of a single block has `{l: leaf}`, as Chronicle
 * writes it: inx-poi makes none.
 */
export type Proof = { l: Leaf } | Branch;
type Leaf = { value: string };
type Branch = { l: Leaf | Branch | CutAway; r: Leaf | Branch | CutAway };
type CutAway = { h: string };

/** A subtree beside the path: its 32-byte hash, and the side on which it is. */
export interface Sibling {
  side: 'left' | 'right';
  hash: Uint8Array;
}

export type ProofVerdict = { ok: true } | { ok: false; reason: string };

// A tree of this depth has room for four billion blocks, more than any milestone references.
const MAX_DEPTH = 32;

/** Leaves that a step of {@link proofSteps} hashes, in some 6 ms. */
const LEAVES_AT_ONCE = 1024;

/**
 * Makes the proof for the block `ids[index]`, of 32-byte block IDs in white-flag order. Throws a
 * RangeError if `index` is not a position in `ids`.
 */
export function proofFor(ids: readonly Uint8Array[], index: number): Proof {
  for (const steps = proofSteps(ids, index); ; ) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Makes the proof as {@link proofFor} does, in steps: others may have a turn between. */
export function* proofSteps(ids: readonly Uint8Array[], index: number): Steps<Proof> {
  if (!(index in ids)) throw new RangeError(`no block ${index} among ${ids.length}`);
  const path = yield* pathTo(ids, index);
  return 'value' in path ? { l: path } : path;
}

type Steps<T> = Generator<undefined, T>;

function* pathTo(ids: readonly Uint8Array[], index: number): Steps<Leaf | Branch> {
  if (ids.length === 1) return { value: toHex(ids[0]!) };
  const [left, right] = splitTree(ids);
  return index < left.length
    ? { l: yield* pathTo(left, index), r: { h: toHex(yield* rootOf(right)) } }
    : { l: { h: toHex(yield* rootOf(left)) }, r: yield* pathTo(right, index - left.length) };
}

function* rootOf(ids: readonly Uint8Array[]): Steps<Uint8Array> {
  if (ids.length <= LEAVES_AT_ONCE) {
    yield;
    return merkleRoot(ids);
  }
  const [left, right] = splitTree(ids);
  return nodeHash(yield* rootOf(left), yield* rootOf(right));
}

function splitTree(ids: readonly Uint8Array[]): [left: Uint8Array[], right: Uint8Array[]] {
  // B.13: the largest power of two below the length
  const split = 1 << (31 - Math.clz32(ids.length - 1));
  return [ids.slice(0, split), ids.slice(split)];
}

/** Reads a proof: block ID, siblings from the leaf up. Throws a {@link StardustError}. */
export function parseProof(json: unknown): { id: Uint8Array; siblings: Sibling[] } {
  const siblings: Sibling[] = [];
  let node = asProofPart(json);
  // one block alone; its leaf by itself is how release 0.2.0 wrote it
  if (Object.hasOwn(node, 'l') && isAbsent(node.r)) {
    requireFields(node, 'l', ...(Object.hasOwn(node, 'r') ? ['r'] : []));
    node = asProofPart(node.l);
    requireFields(node, 'value');
  }
  while (!Object.hasOwn(node, 'value')) {
    if (siblings.length === MAX_DEPTH)
      throw refusal('B.13', `proof of more than ${MAX_DEPTH} levels`);
    requireFields(node, 'l', 'r');
    const left = asProofPart(node.l);
    const right = asProofPart(node.r);
    // One side must be a hash, the other leads on: this turn refuses if neither is, the next if
    // both are.
    const side = Object.hasOwn(left, 'h') ? 'left' : 'right';
    const [cutAway, way] = side === 'left' ? [left, right] : [right, left];
    requireFields(cutAway, 'h');
    siblings.push({ side, hash: bytes32(cutAway.h) });
    node = way;
  }
  requireFields(node, 'value');
  return { id: bytes32(node.value), siblings: siblings.reverse() };
}

/** Returns the block's leaf hash, and the hash of each level above it, by the siblings there. */
export function hashLevels(siblings: readonly Sibling[], id: Uint8Array): Uint8Array[] {
  const hashes: Uint8Array[] = [leafHash(id)];
  for (const { side, hash } of siblings) {
    const own = hashes.at(-1)!;
    hashes.push(side === 'left' ? nodeHash(hash, own) : nodeHash(own, hash));
  }
  return hashes;
}

/** Returns the root of the tree in which the block has these siblings, from the leaf up. */
export function rootOfProof(siblings: readonly Sibling[], id: Uint8Array): Uint8Array {
  return hashLevels(siblings, id).at(-1)!;
}

/** Whether `proof`, untrusted JSON, shows that the block is in the tree with this root. */
export function verifyPath(proof: unknown, id: Uint8Array, root: Uint8Array): ProofVerdict {
  try {
    requirePath(proof, id, root);
    return { ok: true };
  } catch (error) {
    return { ok: false, reason: caughtRefusal(error).reason };
  }
}

function requirePath(proof: unknown, id: Uint8Array, root: Uint8Array): void {
  const parsed = parseProof(proof);
  if (!equalBytes(parsed.id, id)) throw refusal('B.13', 'proof of another block');
  if (!equalBytes(rootOfProof(parsed.siblings, id), root))
    throw refusal('B.13', 'proof leads to another root');
}

/** Facts that a proof file proved. */
export interface IncludedBlock {
  /** 32 bytes (B.1). */
  blockId: Uint8Array;
  block: ParsedBlock;
  /** The milestone that references the block. */
  milestone: Milestone;
  /** True if the file proves that the transaction was applied; undefined says nothing. */
  applied: true | undefined;
}

/**
 * Verifies a proof file: a milestone, which keys of the caller signed, references a block. Block
 * and milestone are encoded and decoded again. So nothing passes that no node would take, such as a
 * milestone that one key signed twice. It is not proven that the block's outputs are unspent now.
 *
 * @param file untrusted JSON: `{milestone, block, proof, appliedProof?, blockId?}`, as HORNET's
 *   plug-in inx-poi makes it, and this node's `/api/edge/v1/blocks/ID/proof`. Other fields are
 *   ignored.
 * @param keys who may sign the network's milestones, and how many of them must. Never from a node.
 * @param verify decides about signatures by ZIP-215; by default in JavaScript
 * @throws StardustError if the file proves nothing; RangeError if the threshold is not an integer of
 *   1 or more
 *
 * @example
 * ```ts
 * import { fromHex } from '@stardust-edge/protocol/bytes';
 * import { verifyInclusion } from '@stardust-edge/protocol/proof';
 *
 * export async function milestoneOf(file: unknown, publicKeys: string[]): Promise<number> {
 *   const keys = publicKeys.map((key) => ({ publicKey: fromHex(key), first: 0, last: 0 }));
 *   const { milestone } = await verifyInclusion(file, { keys, threshold: 7 });
 *   return milestone.index;
 * }
 * ```
 */
export async function verifyInclusion(
  file: unknown,
  keys: MilestoneKeys,
  verify: VerifySignature = verifyEd25519,
): Promise<IncludedBlock> {
  const fields = asProofPart(file);
  const included = part(fields, 'block', blockOfFile);
  if (fields.blockId !== undefined && !equalBytes(part(fields, 'blockId', bytes32), included.id))
    throw refusal('B.1', 'block with another ID');
  const signed = part(fields, 'milestone', milestoneOfFile);
  const fault = await signatureFault(signed.value, signed.id, keys, verify);
  if (fault !== undefined) throw refusal('B.13', `milestone that is not properly signed, ${fault}`);
  const { inclusionMerkleRoot, appliedMerkleRoot } = signed.value;
  requirePath(fields.proof, included.id, inclusionMerkleRoot);
  const hasApplied = fields.appliedProof !== undefined;
  if (hasApplied) requirePath(fields.appliedProof, included.id, appliedMerkleRoot);
  return {
    blockId: included.id,
    block: included,
    milestone: signed.value,
    applied: hasApplied || undefined,
  };
}

function blockOfFile(json: unknown): ParsedBlock {
  const encoded = encode(blockCodec, blockFromJson(json));
  try {
    return decodeBlock(encoded);
  } catch (error) {
    if (!(error instanceof StardustError)) throw error;
    throw refusal('B.13', `block that is refused, ${error.reason}`, { cause: error });
  }
}

const milestoneOfFile = (json: unknown) =>
  decodeMilestone(encode(milestoneCodec, milestoneFromJson(json)));

function asProofPart(json: unknown): Record<string, unknown> {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw refusal('B.13', 'proof with a part that is no object');
  return json as Record<string, unknown>;
}

/** Refuses more fields than these; what is missing is refused where it is read. */
function requireFields(node: Record<string, unknown>, ...names: readonly string[]): void {
  if (Object.keys(node).length !== names.length)
    throw refusal('B.13', `part of a proof with other fields than ${names.join(' and ')}`);
}

function bytes32(json: unknown): Uint8Array {
  if (typeof json !== 'string' || !/^0[xX][0-9a-fA-F]{64}$/.test(json))
    throw refusal('B.13', 'hash that is not 0x and 64 hex digits');
  return fromHex(json);
}
