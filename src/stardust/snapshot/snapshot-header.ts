/**
 * Headers of snapshot files, format version 2 (TIP-0035; docs/snapshot-format.md#full-header,
 * docs/snapshot-format.md#delta-header and docs/snapshot-format.md#protocol-parameters, rules 1.1
 * to 1.3). HORNET writes the counts last, so a file that it did not finish has a header that looks
 * valid: counts and file size are compared before anything else is read.
 */
import { concatBytes } from '../encoding/bytes.ts';
import { decode, fixed, record, u16, u32, u64 } from '../encoding/codec.ts';
import { type ProtocolParametersOption, protocolParametersOption } from '../wire/milestone.ts';
import { type Treasury, treasury } from '../wire/receipt.ts';
import { type ByteStream, decodePart } from './byte-stream.ts';
import {
  MIN_DIFF_LENGTH,
  MIN_OUTPUT_RECORD_LENGTH,
  type MilestoneReference,
  type RecordCounts,
  SOLID_ENTRY_POINT_LENGTH,
} from './snapshot-records.ts';

export interface FullHeader {
  bytes: Uint8Array;
  genesisIndex: number;
  /** Milestone of the solid entry points, to which the ledger is rolled back. */
  target: MilestoneReference;
  /** Index of the milestone to which outputs, treasury and parameters belong. */
  ledgerIndex: number;
  treasury: Treasury;
  parameters: ProtocolParametersOption;
  counts: RecordCounts;
}

export interface DeltaHeader {
  bytes: Uint8Array;
  targetIndex: number;
  /** Unix seconds. */
  targetTimestamp: number;
  /** ID of the target milestone of the full snapshot that this delta continues. */
  fullTargetId: Uint8Array;
  counts: RecordCounts;
}

const FORMAT_VERSION = 2;
const FULL = 0;
const DELTA = 1;
const KINDS = ['a full snapshot', 'a delta snapshot'];

const fullStart = record({
  genesisIndex: u32,
  targetIndex: u32,
  targetTimestamp: u32,
  targetId: fixed(32),
  ledgerIndex: u32,
  treasury,
  optionLength: u16,
});

const fullCounts = record({
  outputs: u64,
  diffs: u32,
  solidEntryPoints: u16,
});

const deltaRest = record({
  targetIndex: u32,
  targetTimestamp: u32,
  fullTargetId: fixed(32),
  solidEntryPointOffset: u64,
  diffs: u32,
  solidEntryPoints: u16,
});

/** Reads and checks the header of a full snapshot, which must be the start of the stream. */
export async function readFullHeader(stream: ByteStream): Promise<FullHeader> {
  const kind = await readKind(stream, FULL);
  const startBytes = await stream.take(90, 'the header');
  const start = decode(fullStart, startBytes);
  const optionOffset = stream.offset;
  const optionBytes = await stream.take(start.optionLength, 'the header');
  const parameters = decodePart(
    stream,
    optionOffset,
    'protocol parameters',
    protocolParametersOption,
    optionBytes,
  );
  const countsOffset = stream.offset;
  const countBytes = await stream.take(14, 'the header');
  const { outputs, diffs, solidEntryPoints } = decode(fullCounts, countBytes);

  const { genesisIndex, targetIndex, ledgerIndex } = start;
  if (genesisIndex > targetIndex || targetIndex > ledgerIndex)
    throw stream.refusal(
      `genesis ${genesisIndex}, target ${targetIndex} and ledger ${ledgerIndex} do not ascend`,
      2,
    );
  // 1.6: the diffs go back from the ledger index to the target; more may follow, for parameters
  // announced before; genesis has no diff.
  if (diffs < ledgerIndex - targetIndex || diffs > ledgerIndex - genesisIndex) {
    const milestones = `ledger ${ledgerIndex}, target ${targetIndex}, genesis ${genesisIndex}`;
    throw stream.refusal(`${diffs} milestone diffs do not fit ${milestones}`, countsOffset);
  }
  // bigint, because a damaged count may be any uint64
  const least =
    BigInt(stream.offset) +
    outputs * BigInt(MIN_OUTPUT_RECORD_LENGTH) +
    BigInt(diffs * MIN_DIFF_LENGTH + solidEntryPoints * SOLID_ENTRY_POINT_LENGTH);
  if (least > stream.size)
    throw stream.refusal(
      `truncated: ${least} bytes at least are due by its counts, it has ${stream.size}`,
      countsOffset,
    );
  refuseNoEntryPoints(stream, solidEntryPoints, countsOffset + 12);
  return {
    bytes: concatBytes(kind, startBytes, optionBytes, countBytes),
    genesisIndex,
    target: { index: targetIndex, id: start.targetId, timestamp: start.targetTimestamp },
    ledgerIndex,
    treasury: start.treasury,
    parameters,
    counts: { outputs: Number(outputs), diffs, solidEntryPoints },
  };
}

/** Reads and checks the header of a delta snapshot, which must be the start of the stream. */
export async function readDeltaHeader(stream: ByteStream): Promise<DeltaHeader> {
  const kind = await readKind(stream, DELTA);
  const rest = await stream.take(54, 'the header');
  const { solidEntryPointOffset, diffs, solidEntryPoints, ...header } = decode(deltaRest, rest);
  // 1.2: the header tells where the solid entry points begin and their number, so the file's
  // length.
  const due = solidEntryPointOffset + BigInt(solidEntryPoints * SOLID_ENTRY_POINT_LENGTH);
  if (due !== BigInt(stream.size))
    throw stream.refusal(
      `${due} bytes are due by its solid entry points, it has ${stream.size}`,
      42,
    );
  refuseNoEntryPoints(stream, solidEntryPoints, 54);
  return {
    bytes: concatBytes(kind, rest),
    ...header,
    counts: { outputs: 0, diffs, solidEntryPoints },
  };
}

/** Reads the two bytes of version and type, and returns them. `due` is the type. */
async function readKind(stream: ByteStream, due: number): Promise<Uint8Array> {
  if (stream.size === 0) throw stream.refusal('the file is empty', 0);
  const version = await stream.take(1, 'the header');
  if (version[0] !== FORMAT_VERSION)
    throw stream.refusal(
      `format version ${version[0]}, only ${FORMAT_VERSION} is known: is it a snapshot at all?`,
      0,
    );
  const type = await stream.take(1, 'the header');
  if (type[0] !== due) throw stream.refusal(`this is ${KINDS[type[0]!] ?? `type ${type[0]}`}`, 1);
  return concatBytes(version, type);
}

/** The parents of the target's block are always entry points: without any, it was not finished. */
function refuseNoEntryPoints(stream: ByteStream, count: number, offset: number): void {
  if (count === 0)
    throw stream.refusal('no solid entry points: whoever wrote the file did not finish it', offset);
}
