/**
 * Block records: the white flag's facts about a block, worked out once, when the block comes in.
 *
 * A record names blocks and outputs by D1's numbers, has the Merkle leaf hashed (B.13), and the
 * verdict on the transaction as a step function of the milestone's timestamp: an output ID fixes
 * the output's content, so only time and the ledger's state are left to decide (D.1, D.2). Records
 * are padded to a multiple of three bytes: as base64 they concatenate.
 *
 *  number u56 | length u16 | kind u8 | parents u8 | leaf 32 | parents u56 …
 *  milestone:   … | milestone ID 32
 *  transaction: … | inputs u8 | outputs u8 | steps u16
 *               | inputs u56 … | outputs u56 … | steps {reason u8, from u32} …
 *
 * No steps: the verdict is undecided, as an output that the transaction consumes was not known yet.
 * Numbers are never given twice. 2^53 of them last a thousand years at 1,000 blocks a second, each
 * with the 256 inputs and outputs that a transaction may have.
 */
import {
  getUint56,
  Reader,
  setUint56,
  UINT56_BYTES,
  Writer,
} from '../../stardust/encoding/bytes.ts';
import { conflictReasonOf, type VerdictStep } from '../../stardust/semantics/verdict.ts';
import { BlockKind } from '../../stardust/white-flag/cone.ts';

export interface TransactionFacts {
  inputs: readonly number[];
  outputs: readonly number[];
  /** Empty while the verdict is undecided. */
  steps: readonly VerdictStep[];
}

export interface BlockRecord {
  number: number;
  parents: readonly number[];
  /** 32 bytes, H(00 ‖ block ID). */
  leaf: Uint8Array;
  /** The milestone that the block carries: its ID, and whether it was verified (M-2 to M-5). */
  milestone?: { id: Uint8Array; isVerified: boolean };
  transaction?: TransactionFacts;
}

export function encodeRecord(record: BlockRecord): Uint8Array<ArrayBuffer> {
  const { number, parents, leaf, milestone, transaction } = record;
  const tail = new Writer();
  for (const parent of parents) tail.u56(parent);
  if (milestone) tail.put(milestone.id);
  if (transaction) {
    const { inputs, outputs, steps } = transaction;
    tail.u8(inputs.length).u8(outputs.length).u16(steps.length);
    for (const input of inputs) tail.u56(input);
    for (const output of outputs) tail.u56(output);
    for (const step of steps) tail.u8(step.reason).u32(step.from);
  }
  const unpadded = HEADER_LENGTH + tail.length;
  const length = unpadded + ((3 - (unpadded % 3)) % 3);
  return new Writer()
    .u56(number)
    .u16(length)
    .u8(kindOf(record))
    .u8(parents.length)
    .put(leaf)
    .put(tail.finish())
    .put(new Uint8Array(length - unpadded))
    .finish();
}

function kindOf({ milestone, transaction }: BlockRecord): number {
  if (milestone?.isVerified) return BlockKind.Milestone;
  if (milestone) return BlockKind.UnverifiedMilestone;
  return transaction ? BlockKind.Transaction : BlockKind.Plain;
}

export const LENGTH_OFFSET = UINT56_BYTES;
export const KIND_OFFSET = LENGTH_OFFSET + 2;
export const PARENT_COUNT_OFFSET = KIND_OFFSET + 1;
export const LEAF_OFFSET = PARENT_COUNT_OFFSET + 1;
export const HEADER_LENGTH = LEAF_OFFSET + 32;

/** Replaces the outputs' numbers in concatenated records, in place. */
export function renumberOutputs(records: Uint8Array, numberOf: (output: number) => number): void {
  visitTransactions(records, (view, _, { outputs, inputCount, outputCount }) => {
    for (let i = 0; i < inputCount + outputCount; i++) {
      const at = outputs + i * UINT56_BYTES;
      setUint56(view, at, numberOf(getUint56(view, at)));
    }
  });
}

/**
 * Calls `visit` for each output that a transaction of the concatenated records consumes.
 *
 * @param isSkipped whether to leave a record out, by its place among them and its block's number
 */
export function visitInputs(
  records: Uint8Array,
  isSkipped: (place: number, block: number) => boolean,
  visit: (output: number) => void,
): void {
  visitTransactions(records, (view, place, { start, outputs, inputCount }) => {
    if (isSkipped(place, getUint56(view, start))) return;
    for (let i = 0; i < inputCount; i++) visit(getUint56(view, outputs + i * UINT56_BYTES));
  });
}

/** Beginning of a record, and the numbers of its outputs: those consumed, then those created. */
interface TransactionPlace {
  start: number;
  outputs: number;
  inputCount: number;
  outputCount: number;
}

function visitTransactions(
  records: Uint8Array,
  visit: (view: DataView, place: number, transaction: TransactionPlace) => void,
): void {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength);
  for (
    let start = 0, place = 0;
    start < records.length;
    start += view.getUint16(start + LENGTH_OFFSET, true), place++
  ) {
    if (records[start + KIND_OFFSET] !== BlockKind.Transaction) continue;
    const parents = records[start + PARENT_COUNT_OFFSET]!;
    const at = start + HEADER_LENGTH + parents * UINT56_BYTES;
    const [inputCount, outputCount] = [records[at]!, records[at + 1]!];
    visit(view, place, { start, outputs: at + 4, inputCount, outputCount });
  }
}

/** Decodes one record, for those who complete its verdict. */
export function decodeRecord(bytes: Uint8Array): BlockRecord {
  const r = new Reader(bytes);
  const number = r.u56();
  r.u16();
  const kind = r.u8();
  const parentCount = r.u8();
  const leaf = r.take(32);
  const numbers = (count: number) => Array.from({ length: count }, () => r.u56());
  const record: BlockRecord = {
    number,
    parents: numbers(parentCount),
    leaf,
  };
  if (kind === BlockKind.Milestone || kind === BlockKind.UnverifiedMilestone)
    record.milestone = { id: r.take(32), isVerified: kind === BlockKind.Milestone };
  if (kind === BlockKind.Transaction) {
    const inputCount = r.u8();
    const outputCount = r.u8();
    const stepCount = r.u16();
    record.transaction = {
      inputs: numbers(inputCount),
      outputs: numbers(outputCount),
      steps: Array.from({ length: stepCount }, () => {
        const reason = conflictReasonOf(r.u8());
        return { reason, from: r.u32() };
      }),
    };
  }
  return record;
}
