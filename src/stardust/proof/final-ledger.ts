/**
 * The root over a final ledger, and proofs that an output or an NFT is or is not in it
 * (docs/final-ledger.md), in trees of B.13 (docs/protocol.md#b13-merkle-root) with records as
 * leaves in ascending order of their keys. Proofs come from untrusted sources: they are read
 * strictly, and the caller gives the final root.
 */
import { blake2b256 } from '../crypto/hash.ts';
import {
  compareBytes,
  concatBytes,
  equalBytes,
  fromHex,
  toHex,
  Writer,
} from '../encoding/bytes.ts';
import { caughtRefusal, refusal, type StardustError } from '../error.ts';
import { MAX_BLOCK_LENGTH } from '../wire/block.ts';
import { networkId } from '../wire/ids.ts';
import { LEDGER_OUTPUT_HEAD_LENGTH } from '../wire/ledger-output.ts';
import { leafHash, nodeHash } from './merkle.ts';

/** Bytes of the key at the start of each record: an output ID (B.4), an NFT ID (B.6). */
export const KEY_BYTES = { outputs: 34, nfts: 32 } as const;

export type FinalTreeName = keyof typeof KEY_BYTES;

/** An output is a part of a block. */
const MAX_RECORD_BYTES = LEDGER_OUTPUT_HEAD_LENGTH + MAX_BLOCK_LENGTH;

export interface FinalTree {
  /** Number of its records. */
  count: number;
  /** 32 bytes (B.13). */
  root: Uint8Array;
}

/** Content that the final root commits to. */
export interface FinalLedger extends Readonly<Record<FinalTreeName, FinalTree>> {
  networkName: string;
  milestoneIndex: number;
  /** 32 bytes (B.9). */
  milestoneId: Uint8Array;
}

/** A record, its place among all of its tree, and the siblings on its path from the leaf up. */
export interface FinalEntry {
  position: number;
  record: Uint8Array;
  path: readonly Uint8Array[];
}

/** A record with the key; or the records before and after the place where it would be. */
export type FinalProof =
  | { present: true; entry: FinalEntry }
  | { present: false; before: FinalEntry | undefined; after: FinalEntry | undefined };

/** The first bytes of what the final root is a hash of. */
const TAG = new TextEncoder().encode('stardust-final-1');

/** The final root: 32 bytes. */
export function finalRoot(ledger: FinalLedger): Uint8Array<ArrayBuffer> {
  const writer = new Writer().put(TAG).u64(networkId(ledger.networkName));
  writer.u32(ledger.milestoneIndex).put(ledger.milestoneId);
  for (const { count, root } of [ledger.outputs, ledger.nfts]) writer.u64(BigInt(count)).put(root);
  return blake2b256(writer.finish());
}

/** The record of an NFT: its ID and that of the output that holds it. */
export function nftRecord(nftId: Uint8Array, outputId: Uint8Array): Uint8Array {
  return concatBytes(nftId, outputId);
}

/** Hashes level by level over all neighbours of a tree or subtree, up to its root. */
export function treeLevels(hashes: readonly Uint8Array[]): (readonly Uint8Array[])[] {
  const levels = [hashes];
  for (let level = hashes; level.length > 1; levels.push(level)) {
    const below = level;
    level = Array.from({ length: Math.ceil(below.length / 2) }, (_, i) => {
      const [left, right] = [below[2 * i]!, below[2 * i + 1]];
      // B.13: a last node without a neighbour goes up as it is
      return right === undefined ? left : nodeHash(left, right);
    });
  }
  return levels;
}

/** The siblings of the node at `index`, and of those above it. */
export function pathThrough(
  levels: readonly (readonly Uint8Array[])[],
  index: number,
): Uint8Array[] {
  return levels.flatMap((level, height) => level[Math.floor(index / 2 ** height) ^ 1] ?? []);
}

/** A tree that grows by one leaf at a time (B.13), in memory for its right edge only. */
export class GrowingTree {
  count = 0;
  /** Roots of full subtrees, by level: each is there if its bit is set in `count`. */
  readonly #edge: Uint8Array[] = [];

  add(record: Uint8Array): void {
    let node: Uint8Array = leafHash(record);
    let level = 0;
    for (let bits = this.count; bits % 2 === 1; bits = Math.floor(bits / 2))
      node = nodeHash(this.#edge[level++]!, node);
    this.#edge[level] = node;
    this.count++;
  }

  root(): Uint8Array {
    let root: Uint8Array | undefined;
    for (let level = 0, bits = this.count; bits > 0; bits = Math.floor(bits / 2), level++) {
      if (bits % 2 === 0) continue;
      const node = this.#edge[level]!;
      root = root === undefined ? node : nodeHash(node, root);
    }
    return root ?? blake2b256(new Uint8Array(0));
  }
}

/** Writes the form of the routes (docs/contract.md#final-ledger). */
export function finalLedgerToJson(ledger: FinalLedger) {
  const tree = ({ count, root }: FinalTree) => ({ count, root: toHex(root) });
  return {
    networkName: ledger.networkName,
    milestoneIndex: ledger.milestoneIndex,
    milestoneId: toHex(ledger.milestoneId),
    outputs: tree(ledger.outputs),
    nfts: tree(ledger.nfts),
  };
}

export function finalEntryToJson({ position, record, path }: FinalEntry) {
  return { position, record: toHex(record), path: path.map(toHex) };
}

export function finalProofToJson(ledger: FinalLedger, proof: FinalProof) {
  const entry = finalEntryToJson;
  const neighbour = (each: FinalEntry | undefined) => (each === undefined ? null : entry(each));
  return {
    ledger: finalLedgerToJson(ledger),
    present: proof.present,
    ...(proof.present
      ? { entry: entry(proof.entry) }
      : { before: neighbour(proof.before), after: neighbour(proof.after) }),
  };
}

export type FinalVerdict =
  | { ok: true; present: true; record: Uint8Array }
  | { ok: true; present: false }
  | { ok: false; reason: string };

/**
 * Returns what an answer, untrusted JSON, proves of the record with this key.
 *
 * @param root the final root that the caller trusts: 32 bytes
 */
export function verifyFinalProof(
  answer: unknown,
  tree: FinalTreeName,
  key: Uint8Array,
  root: Uint8Array,
): FinalVerdict {
  try {
    if (key.length !== KEY_BYTES[tree]) throw refuseProof(`an ID of ${key.length} bytes`);
    const fields = jsonObject(answer);
    const ledger = requireLedger(fields.ledger, root);
    return fields.present === true
      ? verifyPresent(finalEntryFromJson(fields.entry), tree, ledger, key)
      : verifyAbsent(fields, tree, ledger, key);
  } catch (error) {
    return { ok: false, reason: caughtRefusal(error).reason };
  }
}

/** Returns what the final root commits to. Throws a {@link StardustError} if it is another root. */
export function requireLedger(json: unknown, root: Uint8Array): FinalLedger {
  const ledger = finalLedgerFromJson(json);
  if (equalBytes(finalRoot(ledger), root)) return ledger;
  throw refuseProof('the roots and counts are not those of the final root');
}

function verifyPresent(
  entry: FinalEntry,
  tree: FinalTreeName,
  ledger: FinalLedger,
  key: Uint8Array,
): FinalVerdict {
  if (!equalBytes(requireEntry(entry, tree, ledger), key))
    throw refuseProof('the record has another ID');
  return { ok: true, present: true, record: entry.record };
}

/**
 * The neighbours must be at adjacent places, or one of them at an end: as records are in ascending
 * order of their keys, none between them has the key.
 */
function verifyAbsent(
  { present, before: jsonBefore, after: jsonAfter }: Record<string, unknown>,
  tree: FinalTreeName,
  ledger: FinalLedger,
  key: Uint8Array,
): FinalVerdict {
  if (present !== false) throw refuseProof('"present" is neither true nor false');
  const before = jsonBefore === null ? undefined : finalEntryFromJson(jsonBefore);
  const after = jsonAfter === null ? undefined : finalEntryFromJson(jsonAfter);
  const next = before === undefined ? 0 : before.position + 1;
  if (next !== (after === undefined ? ledger[tree].count : after.position))
    throw refuseProof('the neighbours are not at adjacent places');
  if (before !== undefined && compareBytes(requireEntry(before, tree, ledger), key) >= 0)
    throw refuseProof('the record before does not come before the ID');
  if (after !== undefined && compareBytes(requireEntry(after, tree, ledger), key) <= 0)
    throw refuseProof('the record after does not come after the ID');
  return { ok: true, present: false };
}

/** Returns the key of an entry in the tree at its place; else throws a {@link StardustError}. */
export function requireEntry(
  entry: FinalEntry,
  tree: FinalTreeName,
  ledger: FinalLedger,
): Uint8Array {
  const { count, root } = ledger[tree];
  const found = rootOfPath(entry, count);
  if (found === undefined || !equalBytes(found, root))
    throw refuseProof(`the path from place ${entry.position} does not lead to the root`);
  return entry.record.subarray(0, KEY_BYTES[tree]);
}

/**
 * Returns the root to which a path leads in a tree of `count` leaves; undefined if no such tree has
 * that place, or its paths have another length (RFC 9162, section 2.1.3.2).
 */
function rootOfPath({ position, record, path }: FinalEntry, count: number): Uint8Array | undefined {
  if (position >= count) return undefined;
  let node: Uint8Array = leafHash(record);
  let used = 0;
  for (let at = position, last = count - 1; last > 0; ) {
    const isRight = at % 2 === 1;
    // the last node of a level without a neighbour goes up as it is
    if (isRight || at < last) {
      const sibling = path[used++];
      if (sibling === undefined) return undefined;
      node = isRight ? nodeHash(sibling, node) : nodeHash(node, sibling);
    }
    at = Math.floor(at / 2);
    last = Math.floor(last / 2);
  }
  return used === path.length ? node : undefined;
}

/** Throws a {@link StardustError} unless `json` has the form of {@link finalLedgerToJson}. */
export function finalLedgerFromJson(json: unknown): FinalLedger {
  const { networkName, milestoneIndex, milestoneId, outputs, nfts } = jsonObject(json);
  if (typeof networkName !== 'string') throw refuseProof('the network has no name');
  const index = asCount(milestoneIndex);
  if (index >= 2 ** 32) throw refuseProof('the milestone index has more than 32 bits');
  const tree = (value: unknown): FinalTree => {
    const { count, root } = jsonObject(value);
    return { count: asCount(count), root: asBytes(root, 32) };
  };
  return {
    networkName,
    milestoneIndex: index,
    milestoneId: asBytes(milestoneId, 32),
    outputs: tree(outputs),
    nfts: tree(nfts),
  };
}

export function finalEntryFromJson(json: unknown): FinalEntry {
  const { position, record, path } = jsonObject(json);
  if (!Array.isArray(path)) throw refuseProof('the path is no list');
  return {
    position: asCount(position),
    record: asBytes(record),
    path: path.map((each) => asBytes(each, 32)),
  };
}

/** Makes the error of a file or answer that proves nothing. */
export function refuseProof(reason: string): StardustError {
  return refusal('B.13', reason);
}

export function jsonObject(json: unknown): Record<string, unknown> {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw refuseProof('a part of the proof is no object');
  return json as Record<string, unknown>;
}

function asCount(json: unknown): number {
  if (typeof json !== 'number' || !Number.isSafeInteger(json) || json < 0)
    throw refuseProof('a number of the proof is no count');
  return json;
}

function asBytes(json: unknown, length?: number): Uint8Array {
  if (typeof json === 'string' && json.length > 2 + 2 * MAX_RECORD_BYTES)
    throw refuseProof('bytes of the proof that are longer than a record');
  if (typeof json !== 'string' || !/^0x([0-9a-f]{2})*$/.test(json))
    throw refuseProof('bytes of the proof are not 0x and hex digits');
  const bytes = fromHex(json);
  if (length !== undefined && bytes.length !== length)
    throw refuseProof(`${bytes.length} bytes of the proof where ${length} are expected`);
  return bytes;
}
