/** The past cone of a proposal in memory: block records side by side, and their places. */
import { concatBytes, getUint56, UINT56_BYTES } from '../../stardust/encoding/bytes.ts';
import type { Cone, TransactionView } from '../../stardust/white-flag/cone.ts';
import {
  HEADER_LENGTH,
  KIND_OFFSET,
  LEAF_OFFSET,
  LENGTH_OFFSET,
  PARENT_COUNT_OFFSET,
} from './block-record.ts';
import { NumberMap } from './number-map.ts';

/** Bytes of a verdict step: reason u8, from u32. */
const STEP_LENGTH = 5;

export interface RecordCone extends Cone {
  /** The records, concatenated. */
  readonly bytes: Uint8Array;
  recordAt(position: number): Uint8Array;
}

/**
 * Reads concatenated records; `buffers` may be any split of them between whole records. Of two with
 * one number the later counts. Throws on damage.
 *
 * @param isExcluded whether the walk must not find the block, by its position and its number
 */
export function readCone(
  buffers: readonly Uint8Array[],
  isExcluded: (position: number, number: number) => boolean = () => false,
): RecordCone {
  const bytes = buffers.length === 1 ? buffers[0]! : concatBytes(...buffers);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const offsets: number[] = [];
  const u56 = (offset: number) => getUint56(view, offset);
  for (let offset = 0; offset < bytes.length; ) {
    if (offset + HEADER_LENGTH > bytes.length) throw new Error('a block record is cut off');
    const length = view.getUint16(offset + LENGTH_OFFSET, true);
    if (length < HEADER_LENGTH || offset + length > bytes.length)
      throw new Error(`the record of block number ${u56(offset)} is damaged`);
    offsets.push(offset);
    offset += length;
  }
  const at = (position: number) => offsets[position]!;
  const numberAt = (position: number) => u56(at(position));
  const lengthAt = (position: number) => view.getUint16(at(position) + LENGTH_OFFSET, true);
  const parentCountAt = (position: number) => bytes[at(position) + PARENT_COUNT_OFFSET]!;
  /** Start of the kind's own part, behind the parents. */
  const tailAt = (position: number) =>
    at(position) + HEADER_LENGTH + parentCountAt(position) * UINT56_BYTES;

  return {
    bytes,
    size: offsets.length,
    find: indexNumbers(numberAt, offsets.length, isExcluded),
    numberAt,
    recordAt: (position) => bytes.subarray(at(position), at(position) + lengthAt(position)),
    parentCountAt,
    parentAt: (position, parent) => u56(at(position) + HEADER_LENGTH + parent * UINT56_BYTES),
    kindAt: (position) => bytes[at(position) + KIND_OFFSET]!,
    copyLeaf: (position, target, to) => {
      const start = at(position) + LEAF_OFFSET;
      // a loop, as to make a view of so few bytes takes longer than to copy them
      for (let i = 0; i < 8; i++) target[to + i] = view.getUint32(start + i * 4, true);
    },
    milestoneIdAt: (position) => bytes.subarray(tailAt(position), tailAt(position) + 32),
    transactionAt: (position) => new TransactionInPlace(view, tailAt(position)),
    newOutputMap: () => new NumberMap(),
  };
}

/** A class, as every transaction of a cone has one: functions made for each would cost too much. */
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
    this.#outputs = this.#inputs + this.inputCount * UINT56_BYTES;
    this.#steps = this.#outputs + this.outputCount * UINT56_BYTES;
  }

  inputAt(i: number): number {
    return getUint56(this.#view, this.#inputs + i * UINT56_BYTES);
  }

  outputAt(i: number): number {
    return getUint56(this.#view, this.#outputs + i * UINT56_BYTES);
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

/** 4 MB of index at the most. */
const MAX_NUMBER_SPAN = 1 << 20;

/** Finds positions by a plain array from the lowest number up: mostly they are close together. */
function indexNumbers(
  numberAt: (position: number) => number,
  size: number,
  isExcluded: (position: number, number: number) => boolean,
): (number: number) => number {
  const numbers = new Float64Array(size);
  let lowest = Number.POSITIVE_INFINITY;
  let highest = -1;
  for (let position = 0; position < size; position++) {
    const number = numberAt(position);
    if (isExcluded(position, number)) {
      numbers[position] = EXCLUDED;
      continue;
    }
    numbers[position] = number;
    if (number < lowest) lowest = number;
    if (number > highest) highest = number;
  }
  if (highest < 0) return () => -1;
  const span = highest - lowest + 1;
  if (span > MAX_NUMBER_SPAN) {
    const positions = new NumberMap();
    for (const [position, number] of numbers.entries())
      if (number !== EXCLUDED) positions.set(number, position);
    return (number) => positions.get(number) ?? -1;
  }
  const positions = new Int32Array(span);
  for (let position = 0; position < size; position++)
    if (numbers[position] !== EXCLUDED) positions[numbers[position]! - lowest] = position + 1;
  return (number) => (number < lowest || number > highest ? -1 : positions[number - lowest]! - 1);
}

/** Stands for a number, which is never negative. */
const EXCLUDED = -1;
