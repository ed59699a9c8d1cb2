/**
 * Packs: up to 256 blocks in one row of D1, in the order in which they were stored
 * (docs/storage.md#packs). D1 bills rows, not bytes, and a walk reads a pack's blocks without a
 * join.
 *
 * A block stays in its pack until it is dropped or pruned. Columns of their own have what changes:
 * `statuses` says which milestone references each block, `states` when the outputs that the blocks
 * consume came into the ledger and left it; view-pages.ts has the rule which of these are
 * true.
 */
import { fromBase64 } from '../../stardust/encoding/base64.ts';
import { getUint56, setUint32, setUint56 } from '../../stardust/encoding/bytes.ts';
import { LedgerDamaged, requireChecksum } from '../core/checksum.ts';
import type { Row } from '../core/read-batch.ts';

export const MAX_PACK_BLOCKS = 256;

export interface BlockStatus {
  /** The milestone that references it; 0 while none does. */
  milestone: number;
  /** The ledger index when it was stored, while it is unreferenced; else 0. */
  storedAt: number;
  /** Conflict reason of a referenced transaction, 0 if it was applied. */
  reason: number;
}

/** Reason of a block that carries no transaction. */
export const NO_REASON = 254;

/** index u32 | reason u8 | flags u8. */
const STATUS_BYTES = 6;
const REFERENCED = 1;

export const STATUS_LENGTH = 8;

export function writeStatuses(statuses: readonly BlockStatus[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(statuses.length * STATUS_BYTES);
  const view = new DataView(bytes.buffer);
  for (const [i, { milestone, storedAt, reason }] of statuses.entries()) {
    const at = i * STATUS_BYTES;
    setUint32(view, at, milestone || storedAt);
    bytes[at + 4] = reason;
    bytes[at + 5] = milestone === 0 ? 0 : REFERENCED;
  }
  return bytes;
}

export class Statuses {
  readonly bytes: Uint8Array;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get size(): number {
    return this.bytes.length / STATUS_BYTES;
  }

  /** The milestone that references the block at this position; 0 while none does. */
  milestoneAt(position: number): number {
    return this.#isReferenced(position) ? this.#view.getUint32(position * STATUS_BYTES, true) : 0;
  }

  at(position: number): BlockStatus {
    const index = this.#view.getUint32(position * STATUS_BYTES, true);
    const isReferenced = this.#isReferenced(position);
    return {
      milestone: isReferenced ? index : 0,
      storedAt: isReferenced ? 0 : index,
      reason: this.bytes[position * STATUS_BYTES + 4]!,
    };
  }

  #isReferenced(position: number): boolean {
    return this.bytes[position * STATUS_BYTES + 5] === REFERENCED;
  }
}

/** State of an output that was ever in the ledger. */
export interface OutputState {
  created: number;
  /** Milestone that spent it, 0 while it is unspent. */
  spent: number;
}

/** number u56 | created u32 | spent u32. */
const STATE_BYTES = 15;

export function writeStates(states: ReadonlyMap<number, OutputState>): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(states.size * STATE_BYTES);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [number, { created, spent }] of states) {
    setUint56(view, at, number);
    setUint32(view, at + 7, created);
    setUint32(view, at + 11, spent);
    at += STATE_BYTES;
  }
  return bytes;
}

/** Calls `visit` for each output. Of two outputs with one number the later counts. */
export function readStates(
  bytes: Uint8Array,
  visit: (number: number, created: number, spent: number) => void,
): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; at += STATE_BYTES)
    visit(getUint56(view, at), view.getUint32(at + 7, true), view.getUint32(at + 11, true));
}

/** Reads outputs by number. Of two with one number the later counts, and no spending is lost. */
export function readStateMap(bytes: Uint8Array): Map<number, OutputState> {
  const states = new Map<number, OutputState>();
  readStates(bytes, (number, created, spent) => {
    states.set(number, { created, spent: spent || (states.get(number)?.spent ?? 0) });
  });
  return states;
}

/** Checksums of the three columns that a walk reads, and next_block less next_output. */
export interface PackChecksums {
  records: number;
  statuses: number;
  states: number;
  next: number;
}

export function writeChecksums({ records, statuses, states, next }: PackChecksums): string {
  return JSON.stringify([records, statuses, states, next]);
}

export function readChecksums(text: string): PackChecksums {
  const [records, statuses, states, next] = JSON.parse(text);
  const sums = { records, statuses, states, next };
  // fences compare the text: of another spelling they would say that somebody else wrote
  if (writeChecksums(sums) !== text) throw new LedgerDamaged('checksums of packs');
  return sums;
}

/**
 * SQL of a pack's new checksums; NULL, which the table does not take, if its checksums are not
 * those that the writer read: nothing else shows that verdicts were completed meanwhile.
 */
export const replaceChecksums = (before: string, after: string): string =>
  `CASE WHEN sums = ${before} THEN ${after} END`;

export interface WalkedPack {
  key: number;
  records: Uint8Array;
  statuses: Statuses;
  states: Uint8Array;
  sums: PackChecksums;
  /** Whether requests must not see it. */
  isStaged: boolean;
}

export const WALKED_COLUMNS = 'p.key, p.records, p.statuses, p.states, p.sums, p.staged';

/** Throws a LedgerDamaged where a checksum is not right. */
export const walkedPackFromRow = (row: Row): WalkedPack => walkedPacksFromRows([row]).packs[0]!;

/** Reads several packs, their records side by side in one buffer. */
export function walkedPacksFromRows(rows: readonly Row[]): {
  packs: WalkedPack[];
  records: Uint8Array;
} {
  const texts = rows.map((row) => row.text('records'));
  const records = fromBase64Pieces(texts);
  let start = 0;
  const packs = rows.map((row, i): WalkedPack => {
    const key = row.integer('key');
    const sums = readChecksums(row.text('sums'));
    const checked = (column: 'records' | 'statuses' | 'states', bytes: Uint8Array) => {
      requireChecksum(bytes, sums[column], `${column} of pack ${key}`);
      return bytes;
    };
    const own = records.subarray(start, start + bytesIn(texts[i]!));
    start += own.length;
    return {
      key,
      records: checked('records', own),
      statuses: new Statuses(checked('statuses', fromBase64(row.text('statuses')))),
      states: checked('states', fromBase64(row.text('states'))),
      sums,
      isStaged: row.integerOrNull('staged') !== null,
    };
  });
  return { packs, records };
}

/** Bytes of base64 without padding. */
const bytesIn = (text: string): number => (text.length / 4) * 3;

/** @param row `key`, `statuses`, `sums`. Throws a LedgerDamaged where the checksum is not right. */
export function statusesFromRow(row: Row): Statuses {
  const bytes = fromBase64(row.text('statuses'));
  const { statuses } = readChecksums(row.text('sums'));
  requireChecksum(bytes, statuses, `statuses of pack ${row.integer('key')}`);
  return new Statuses(bytes);
}

/**
 * Decodes several texts into one buffer, as they may be megabytes long. Throws a SyntaxError unless
 * each stands for a multiple of three bytes.
 */
function fromBase64Pieces(pieces: readonly string[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(pieces.reduce((length, piece) => length + bytesIn(piece), 0));
  let offset = 0;
  for (const piece of pieces) offset += bytes.subarray(offset).setFromBase64(piece).written;
  if (offset !== bytes.length) throw new SyntaxError('base64 with padding or white space');
  return bytes;
}

/** Characters of a pack. One block may exceed it by 150 KB; D1 takes rows of 2,000,000 bytes. */
export const MAX_PACK_LENGTH = 800_000;

/** Splits items into parts of at most `most` items and `length` characters, but one at least. */
export function splitIntoParts<T>(
  items: readonly T[],
  lengthOf: (item: T) => number,
  {
    most = MAX_PACK_BLOCKS,
    length: limit = MAX_PACK_LENGTH,
  }: { most?: number; length?: number } = {},
): T[][] {
  const parts: T[][] = [];
  let length = 0;
  for (const item of items) {
    const own = lengthOf(item);
    const part = parts.at(-1);
    if (part === undefined || part.length === most || length + own > limit) {
      parts.push([item]);
      length = own;
    } else {
      part.push(item);
      length += own;
    }
  }
  return parts;
}
