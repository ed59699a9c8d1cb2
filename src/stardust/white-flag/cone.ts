/**
 * The past cone of a proposal in memory: block records as they come from the store, side by side,
 * and where each begins.
 */
import { concatBytes } from '../bytes.ts';
import { HEADER_LENGTH, INADMISSIBLE, LEAF_OFFSET, RecordKind } from './block-record.ts';

/** Bytes of a verdict step: reason u8, from u32. */
const STEP_LENGTH = 5;

/** Blocks are named by their position in the cone; `find` tells the position of a number. */
export interface Cone {
  /** The records, concatenated. */
  readonly bytes: Uint8Array;
  readonly size: number;
  /** The position of a number, or -1 for a block outside. */
  find(number: number): number;
  numberAt(position: number): number;
  /** The record's bytes. */
  recordAt(position: number): Uint8Array;
  inadmissibleAt(position: number): boolean;
  parentCountAt(position: number): number;
  /** Number of the parent. */
  parentAt(position: number, parent: number): number;
  kindAt(position: number): number;
  /** Writes the block's Merkle leaf into `target`, as 8 words from `at` on. */
  copyLeaf(position: number, target: Uint32Array, at: number): void;
  /** The ID of the milestone that the block carries; only for that kind. */
  milestoneIdAt(position: number): Uint8Array;
  /** Only for transactions. */
  transactionAt(position: number): TransactionView;
}

/** A transaction's facts, read in place. */
export interface TransactionView {
  readonly inputCount: number;
  readonly outputCount: number;
  inputAt(i: number): number;
  outputAt(i: number): number;
  /** The conflict reason at a milestone of this timestamp; undefined while the verdict is open. */
  reasonAt(timestamp: number): number | undefined;
}

/** The outputs that the block's transaction consumes; none where it carries no transaction. */
export function inputsAt(cone: Cone, position: number): number[] {
  if (cone.kindAt(position) !== RecordKind.Transaction) return [];
  const transaction = cone.transactionAt(position);
  return Array.from({ length: transaction.inputCount }, (_, i) => transaction.inputAt(i));
}

/** The outputs that the block's transaction creates; none where it carries no transaction. */
export function outputsAt(cone: Cone, position: number): number[] {
  if (cone.kindAt(position) !== RecordKind.Transaction) return [];
  const transaction = cone.transactionAt(position);
  return Array.from({ length: transaction.outputCount }, (_, i) => transaction.outputAt(i));
}

/** Whether the block carries a transaction without a verdict. */
export function isUndecidedAt(cone: Cone, position: number): boolean {
  return (
    cone.kindAt(position) === RecordKind.Transaction &&
    cone.transactionAt(position).reasonAt(0) === undefined
  );
}

/**
 * Reads concatenated records; `buffers` may be any split of them between whole records. Of two with
 * one number the later counts. Throws on damage.
 */
export function readCone(buffers: readonly Uint8Array[]): Cone {
  const bytes = buffers.length === 1 ? buffers[0]! : concatBytes(...buffers);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const offsets: number[] = [];
  let lowest = Number.POSITIVE_INFINITY;
  let highest = -1;
  for (let offset = 0; offset < bytes.length; ) {
    if (offset + HEADER_LENGTH > bytes.length) throw new Error('a block record is cut off');
    const number = view.getUint32(offset, true);
    const length = view.getUint16(offset + 4, true);
    if (length < HEADER_LENGTH || offset + length > bytes.length)
      throw new Error(`the record of block number ${number} is damaged`);
    offsets.push(offset);
    if (number < lowest) lowest = number;
    if (number > highest) highest = number;
    offset += length;
  }
  const positions = indexNumbers(view, offsets, lowest, highest);
  const u32 = (offset: number) => view.getUint32(offset, true);
  const at = (position: number) => offsets[position]!;

  return {
    bytes,
    size: offsets.length,
    find: positions,
    numberAt: (position) => u32(at(position)),
    recordAt: (position) =>
      bytes.subarray(at(position), at(position) + view.getUint16(at(position) + 4, true)),
    inadmissibleAt: (position) => (bytes[at(position) + 6]! & INADMISSIBLE) !== 0,
    parentCountAt: (position) => bytes[at(position) + 7]!,
    parentAt: (position, parent) => u32(at(position) + HEADER_LENGTH + parent * 4),
    kindAt: (position) => bytes[at(position) + 6]! & ~INADMISSIBLE,
    copyLeaf: (position, target, to) => {
      const start = at(position) + LEAF_OFFSET;
      // a loop, as to make a view of so few bytes takes longer than to copy them
      for (let i = 0; i < 8; i++) target[to + i] = u32(start + i * 4);
    },
    milestoneIdAt: (position) => {
      const start = at(position) + HEADER_LENGTH + bytes[at(position) + 7]! * 4;
      return bytes.subarray(start, start + 32);
    },
    transactionAt: (position) => {
      const start = at(position) + HEADER_LENGTH + bytes[at(position) + 7]! * 4;
      return new TransactionInPlace(view, start);
    },
  };
}

/**
 * A class, as there is one for every transaction of a cone: functions made anew for each would cost
 * more than all that they do.
 */
class TransactionInPlace implements TransactionView {
  readonly inputCount: number;
  readonly outputCount: number;
  readonly #view: DataView;
  readonly #inputs: number;
  readonly #outputs: number;
  readonly #steps: number;
  readonly #stepCount: number;

  constructor(view: DataView, start: number) {
    this.#view = view;
    this.inputCount = view.getUint8(start);
    this.outputCount = view.getUint8(start + 1);
    this.#stepCount = view.getUint16(start + 2, true);
    this.#inputs = start + 4;
    this.#outputs = this.#inputs + this.inputCount * 4;
    this.#steps = this.#outputs + this.outputCount * 4;
  }

  inputAt(i: number): number {
    return this.#view.getUint32(this.#inputs + i * 4, true);
  }

  outputAt(i: number): number {
    return this.#view.getUint32(this.#outputs + i * 4, true);
  }

  reasonAt(timestamp: number): number | undefined {
    if (this.#stepCount === 0) return undefined;
    let step = 0;
    while (step + 1 < this.#stepCount && this.#fromAt(step + 1) <= timestamp) step++;
    return this.#view.getUint8(this.#steps + step * STEP_LENGTH);
  }

  #fromAt(step: number): number {
    return this.#view.getUint32(this.#steps + step * STEP_LENGTH + 1, true);
  }
}

/**
 * Numbers of one cone lie close together, so that a plain array from the lowest to the highest
 * finds them quickest.
 */
function indexNumbers(
  view: DataView,
  offsets: readonly number[],
  lowest: number,
  highest: number,
): (number: number) => number {
  if (offsets.length === 0) return () => -1;
  const span = highest - lowest + 1;
  if (span > MAX_NUMBER_SPAN) {
    const positions = new Map(
      offsets.map((offset, position) => [view.getUint32(offset, true), position]),
    );
    return (number) => positions.get(number) ?? -1;
  }
  const positions = new Int32Array(span);
  offsets.forEach((offset, position) => {
    positions[view.getUint32(offset, true) - lowest] = position + 1;
  });
  return (number) => (number < lowest || number > highest ? -1 : positions[number - lowest]! - 1);
}

/** 4 MB of index at the most. */
const MAX_NUMBER_SPAN = 1 << 20;
