/**
 * Outputs as the ledger holds them: with ID, creating block and booking milestone, in the layout of
 * snapshot files and of the state hash (docs/snapshot-format.md#output-record).
 */
import type { Writer } from '../encoding/bytes.ts';
import { decode, fixed, record, u32 } from '../encoding/codec.ts';
import { refusal } from '../error.ts';

export interface LedgerOutput {
  /** 34 bytes (B.4). */
  outputId: Uint8Array;
  /** ID of the block with the transaction; all zero for migrated outputs (E.5). */
  blockId: Uint8Array;
  /** Index of the milestone that booked it; 0 for the outputs that the network began with. */
  bookedIndex: number;
  /** Timestamp of that milestone, Unix seconds. */
  bookedTimestamp: number;
  /** The output in binary form (A.8). */
  bytes: Uint8Array;
}

/** Bytes before the output's own: ID 34, block ID 32, booked index and timestamp, length. */
export const LEDGER_OUTPUT_HEAD_LENGTH = 34 + 32 + 4 + 4 + 4;

export function putLedgerOutput(writer: Writer, output: LedgerOutput): void {
  writer
    .put(output.outputId)
    .put(output.blockId)
    .u32(output.bookedIndex)
    .u32(output.bookedTimestamp);
  writer.u32(output.bytes.length).put(output.bytes);
}

/** Fields before the output's own bytes. `length` is how many they are. */
export const ledgerOutputHead = record<Omit<LedgerOutput, 'bytes'> & { length: number }>({
  outputId: fixed(34),
  blockId: fixed(32),
  bookedIndex: u32,
  bookedTimestamp: u32,
  length: u32,
});

/**
 * Decodes what {@link putLedgerOutput} wrote, such as a record of a final ledger; byte fields are
 * views. Throws a StardustError unless it is exactly one record; the output itself is not decoded.
 */
export function decodeLedgerOutput(bytes: Uint8Array): LedgerOutput {
  const head = bytes.subarray(0, LEDGER_OUTPUT_HEAD_LENGTH);
  const { length, ...fields } = decode(ledgerOutputHead, head);
  const own = bytes.subarray(LEDGER_OUTPUT_HEAD_LENGTH);
  if (own.length !== length)
    throw refusal('1.4', `an output of ${own.length} bytes that says it has ${length}`);
  return { ...fields, bytes: own };
}
