/**
 * Packs: up to 256 blocks in one row of D1, in the order in which they were stored
 * (docs/storage.md#packs). D1 bills rows, not bytes, and a walk reads the blocks of a pack without
 * a join.
 *
 * A block is stored once and stays where it is until it is dropped or pruned. What changes has a
 * column of its own: `statuses` says which milestone references each block, and `states` when the
 * outputs that the blocks consume came into the ledger and left it. Which of these notes are true
 * before which milestone is a rule of its own (view/pack-reader.ts).
 */

import { fromBase64, toBase64 } from '../../stardust/encoding/base64.ts';
import { getUint56, setUint32, setUint56, UINT56_BYTES } from '../../stardust/encoding/bytes.ts';
import { LedgerDamaged, requireChecksum } from './checksum.ts';
import type { Row } from './read-batch.ts';
import { rowSum } from './row-sum.ts';

/** Blocks of a pack. */
export const MAX_PACK_BLOCKS = 256;

/**
 * Characters of a pack. One block may exceed it by itself, by 150 KB, and the row still fits into
 * the 2,000,000 bytes that D1 allows.
 */
export const MAX_PACK_LENGTH = 800_000;

/**
 * Items in order, in parts of at most so many and of at most that length, but one at least each.
 */
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

/**
 * Number, hex ID and payload type (docs/protocol.md, A.1; 0 for none) of a block of a pack, and
 * their sum.
 */
export type BlockRow = [number: number, id: string, payload: number, sum: number];

export function writeBlockRow(number: number, id: string, payload: number): BlockRow {
  return [number, id, payload, rowSum([number, id, payload])];
}

/** Throws a LedgerDamaged where a sum is not right. */
export function readBlockRows(text: string): BlockRow[] {
  const rows: BlockRow[] = JSON.parse(text);
  for (const [number, id, payload, sum] of rows)
    if (rowSum([number, id, payload]) !== sum) throw new LedgerDamaged('IDs of blocks');
  return rows;
}

/**
 * An output that a block's transaction consumes or creates, in the order of its inputs and then its
 * outputs. `sum` is that of number and ID. One that is created has the chain's ID in hex, or null,
 * as well; what it contains has the same place in `pack_content`.
 */
export type OutputRow = [number: number, id: string, sum: number, chain?: string | null];

export function writeOutputRow(number: number, id: string): OutputRow {
  return [number, id, rowSum([number, id])];
}

/** @param chain null for an output without one */
export function writeCreatedRow(number: number, id: string, chain: string | null): OutputRow {
  return [number, id, rowSum([number, id]), chain];
}

/** Throws a LedgerDamaged unless the sum of a row of {@link OutputRow} is right. */
export function requireOutputSum(number: number, id: string, sum: number): void {
  if (rowSum([number, id]) !== sum) throw new LedgerDamaged('IDs of outputs');
}

/** What became of a block. */
export interface BlockStatus {
  /** The milestone that references it; 0 while none does. */
  milestone: number;
  /** The ledger index when it was stored, while it is unreferenced; else 0. */
  storedAt: number;
  /** Of a referenced transaction: its conflict reason, 0 where it was applied. */
  reason: number;
}

/** Reason of a block that carries no transaction. */
export const NO_REASON = 254;

/** index u32 | reason u8 | flags u8. */
const STATUS_BYTES = 6;
const REFERENCED = 1;

/** Characters of one status. */
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

/** Statuses side by side, read in place. */
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

/** What the ledger knows of an output that was ever in it. */
export interface OutputState {
  /** Milestone that created it. */
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

/** Calls `visit` for each output. Of two with one number the later counts. */
export function readStates(
  bytes: Uint8Array,
  visit: (number: number, created: number, spent: number) => void,
): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; at += STATE_BYTES)
    visit(getUint56(view, at), view.getUint32(at + 7, true), view.getUint32(at + 11, true));
}

/** The outputs by number: of two with one number the later counts, and no spending is lost. */
export function readStateMap(bytes: Uint8Array): Map<number, OutputState> {
  const states = new Map<number, OutputState>();
  readStates(bytes, (number, created, spent) => {
    states.set(number, { created, spent: spent || (states.get(number)?.spent ?? 0) });
  });
  return states;
}

/** Of the three columns that a walk reads, and next_block less next_output. */
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
  return { records, statuses, states, next };
}

/**
 * SQL of a pack's new checksums: NULL, which the table does not take, where its checksums are not
 * those that the writer read. Verdicts may have been completed meanwhile, which nothing else shows.
 */
export function replaceChecksums(before: string, after: string): string {
  return `CASE WHEN sums = ${before} THEN ${after} END`;
}

/** The columns of a pack that a walk reads. */
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
export function walkedPackFromRow(row: Row): WalkedPack {
  return walkedPacksFromRows([row]).packs[0]!;
}

/** The same of several: their records are side by side in one buffer. */
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

/** Of base64 without padding. */
function bytesIn(text: string): number {
  return (text.length / 4) * 3;
}

/**
 * @param row `key`, `statuses` and `sums`. Throws a LedgerDamaged where the checksum is not right.
 */
export function statusesFromRow(row: Row): Statuses {
  const bytes = fromBase64(row.text('statuses'));
  const { statuses } = readChecksums(row.text('sums'));
  requireChecksum(bytes, statuses, `statuses of pack ${row.integer('key')}`);
  return new Statuses(bytes);
}

/** Block numbers, one after another, in base64. */
export function writeNumbers(numbers: ArrayLike<number>): string {
  const bytes = new Uint8Array(numbers.length * UINT56_BYTES);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < numbers.length; i++) setUint56(view, i * UINT56_BYTES, numbers[i]!);
  return toBase64(bytes);
}

export function readNumbers(text: string): number[] {
  const bytes = fromBase64(text);
  const view = new DataView(bytes.buffer);
  const count = bytes.length / UINT56_BYTES;
  return Array.from({ length: count }, (_, i) => getUint56(view, i * UINT56_BYTES));
}

/** An output that a milestone spent, as its part has it. IDs are hex. */
export interface SpentOutput {
  id: string;
  /** Base64. */
  bytes: string;
  chain: string | null;
  /** The block that created it, all zero for migrated outputs. */
  block: string;
  created: number;
  /** Unix seconds. */
  createdTime: number;
  /** The transaction that spent it. */
  transaction: string;
}

/** As it is stored. The transaction is named by an output that it created. */
export type SpentRow = [
  id: string,
  bytes: string,
  chain: string | null,
  block: string,
  created: number,
  createdTime: number,
  made: string,
  sum: number,
];

/** Hex digits of a transaction's ID, with which those of its outputs begin. */
export const TRANSACTION_ID_DIGITS = 64;

/**
 * Throws a LedgerDamaged where the sum is not right. The ID is first: queries look for it there
 * (known-outputs.ts).
 */
export function readSpentOutput(row: SpentRow): SpentOutput {
  const [id, bytes, chain, block, created, createdTime, made, sum] = row;
  if (rowSum([id, block, created, createdTime, made]) !== sum)
    throw new LedgerDamaged('outputs that were spent');
  const transaction = made.slice(0, TRANSACTION_ID_DIGITS);
  return { id, bytes, chain, block, created, createdTime, transaction };
}

/**
 * Decodes several texts into one buffer, side by side. Each text must stand for a multiple of three
 * bytes; a SyntaxError otherwise. One buffer, because the texts may be megabytes long.
 */
function fromBase64Pieces(pieces: readonly string[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(
    pieces.reduce((length, piece) => length + (piece.length / 4) * 3, 0),
  );
  let offset = 0;
  for (const piece of pieces) offset += bytes.subarray(offset).setFromBase64(piece).written;
  if (offset !== bytes.length) throw new SyntaxError('base64 with padding or white space');
  return bytes;
}
