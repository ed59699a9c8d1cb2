/**
 * Records after the header of a snapshot file: outputs, milestone diffs, solid entry points
 * (docs/snapshot-format.md#output-record and docs/snapshot-format.md#milestone-diff, rules 1.4 and
 * 1.5), one at a time: no rule limits how many outputs a diff books. Outputs and milestones are
 * parts of blocks, so they are not longer than one.
 */
import { Reader } from '../encoding/bytes.ts';
import { decode } from '../encoding/codec.ts';
import { MAX_BLOCK_LENGTH } from '../wire/block.ts';
import { chainIdOf, milestoneId } from '../wire/ids.ts';
import {
  LEDGER_OUTPUT_HEAD_LENGTH,
  type LedgerOutput,
  ledgerOutputHead,
} from '../wire/ledger-output.ts';
import { type Milestone, milestone, receiptOf } from '../wire/milestone.ts';
import { type Output, output } from '../wire/output.ts';
import { type Treasury, treasury } from '../wire/receipt.ts';
import { type ByteStream, decodePart, type SnapshotKind } from './byte-stream.ts';

/** How many records of each kind follow the header. */
export interface RecordCounts {
  outputs: number;
  diffs: number;
  solidEntryPoints: number;
}

export interface SnapshotOutput extends LedgerOutput {
  /** File of the record, and where it begins there. */
  file: SnapshotKind;
  offset: number;
  /** `bytes`, decoded. Its byte fields are views of them. */
  value: Output;
  /** The ID of its chain (TIP-18), if it has one. */
  chainId: Uint8Array | undefined;
}

/** A milestone as later milestones and headers refer to it. */
export interface MilestoneReference {
  index: number;
  /** 32 bytes (B.9). */
  id: Uint8Array;
  /** Unix seconds. */
  timestamp: number;
}

export interface SnapshotMilestone extends MilestoneReference {
  /** The payload in binary form (A.10), with type and signatures. */
  payload: Uint8Array;
  /** `payload`, decoded. Its byte fields are views of it. */
  value: Milestone;
}

/**
 * A diff is one `diff`, its `created`, its `consumed`, and one `diffEnd`, in this order. An output
 * that its milestone created and consumed is both. `offset`: start of the record in the file.
 */
export type SnapshotRecord = { offset: number } & (
  | { kind: 'output' | 'created' | 'consumed'; output: SnapshotOutput }
  /** `spentTreasury` is present if the milestone has a receipt: the treasury that it spent. */
  | { kind: 'diff'; milestone: SnapshotMilestone; spentTreasury: Treasury | undefined }
  | { kind: 'diffEnd' }
  | { kind: 'solidEntryPoint'; blockId: Uint8Array }
);

/** A basic output with nothing but an address has 46 bytes (docs/protocol.md, B.14). */
export const MIN_OUTPUT_RECORD_LENGTH = LEDGER_OUTPUT_HEAD_LENGTH + 46;
/** Two lengths, a milestone with one parent and one signature (A.10), two counts. */
export const MIN_DIFF_LENGTH = 8 + 243 + 8;
export const SOLID_ENTRY_POINT_LENGTH = 32;

const SPENDING_TRANSACTION_ID_LENGTH = 32;
const TREASURY_LENGTH = 40;

/** Reads all records to the end of the file. Throws a SnapshotRefusal at the first fault. */
export async function* readRecords(
  stream: ByteStream,
  counts: RecordCounts,
): AsyncGenerator<SnapshotRecord, void> {
  for (let i = 0; i < counts.outputs; i++) {
    const offset = stream.offset;
    yield { kind: 'output', offset, output: await readOutputRecord(stream, 'an output') };
  }
  for (let i = 0; i < counts.diffs; i++) yield* readDiff(stream);
  for (let i = 0; i < counts.solidEntryPoints; i++) {
    const offset = stream.offset;
    const blockId = await stream.take(SOLID_ENTRY_POINT_LENGTH, 'the solid entry points');
    yield { kind: 'solidEntryPoint', offset, blockId };
  }
  if (!(await stream.atEnd()))
    throw stream.refusal(
      'more bytes follow where it should end: its counts are wrong',
      stream.offset,
    );
}

async function readOutputRecord(stream: ByteStream, what: string): Promise<SnapshotOutput> {
  const offset = stream.offset;
  const head = await stream.take(LEDGER_OUTPUT_HEAD_LENGTH, what);
  const { length, ...fields } = decode(ledgerOutputHead, head);
  if (length > MAX_BLOCK_LENGTH)
    throw stream.refusal(`${what} of ${length} bytes, more than a block can hold`, offset);
  const bytes = await stream.take(length, what);
  const value = decodePart(stream, offset, what, output, bytes);
  return {
    ...fields,
    file: stream.kind,
    offset,
    bytes,
    value,
    chainId: chainIdOf(value, fields.outputId),
  };
}

async function* readDiff(stream: ByteStream): AsyncGenerator<SnapshotRecord, void> {
  const start = stream.offset;
  const length = await readU32(stream);
  const end = start + length;
  const ours = await takeMilestone(stream, await readU32(stream));
  const spent = receiptOf(ours.value) && (await stream.take(TREASURY_LENGTH, 'a milestone diff'));
  const spentTreasury = spent && decode(treasury, spent);
  yield { kind: 'diff', offset: start, milestone: ours, spentTreasury };

  const created = await readU32(stream);
  for (let i = 0; i < created; i++) {
    const offset = stream.offset;
    const output = await readOutputRecord(stream, 'a created output');
    if (output.bookedIndex !== ours.index || output.bookedTimestamp !== ours.timestamp)
      throw stream.refusal(
        `an output that milestone ${ours.index} created says it was booked elsewhere`,
        offset,
      );
    yield { kind: 'created', offset, output };
  }
  const consumed = await readU32(stream);
  for (let i = 0; i < consumed; i++) {
    const offset = stream.offset;
    const output = await readOutputRecord(stream, 'a consumed output');
    if (output.bookedIndex > ours.index)
      throw stream.refusal(
        `an output that milestone ${ours.index} consumed says it was booked later`,
        offset,
      );
    await stream.take(SPENDING_TRANSACTION_ID_LENGTH, 'a consumed output');
    yield { kind: 'consumed', offset, output };
  }
  if (stream.offset !== end)
    throw stream.refusal(
      `the diff of milestone ${ours.index} is ${length} bytes long and ends elsewhere`,
      start,
    );
  yield { kind: 'diffEnd', offset: start };
}

async function takeMilestone(stream: ByteStream, length: number): Promise<SnapshotMilestone> {
  const offset = stream.offset;
  if (length > MAX_BLOCK_LENGTH)
    throw stream.refusal(`a milestone of ${length} bytes, more than a block can hold`, offset);
  const payload = await stream.take(length, 'a milestone');
  const value = decodePart(stream, offset, 'a milestone', milestone, payload);
  const [first, second] = value.options;
  if (first !== undefined && first.type === second?.type)
    throw stream.refusal(`M-9: milestone ${value.index} has two options of one type`, offset);
  return {
    index: value.index,
    id: milestoneId(value, payload),
    timestamp: value.timestamp,
    payload,
    value,
  };
}

async function readU32(stream: ByteStream): Promise<number> {
  return new Reader(await stream.take(4, 'a milestone diff')).u32();
}
