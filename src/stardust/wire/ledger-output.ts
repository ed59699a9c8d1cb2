/**
 * Outputs as the ledger holds them: with their ID, the block that created them, and the milestone
 * that booked them.
 *
 * The layout is that of snapshot files (docs/snapshot-format.md#output-record). The ledger's state
 * hash is taken over the same bytes.
 */
import type { Writer } from '../encoding/bytes.ts';

export interface LedgerOutput {
  /** 34 bytes (B.4). */
  outputId: Uint8Array;
  /**
   * ID of the block with the transaction; all zero for migrated outputs, which no block creates
   * (E.5).
   */
  blockId: Uint8Array;
  /** Index of the milestone that booked it; 0 for the outputs that the network began with. */
  bookedIndex: number;
  /** That milestone's timestamp, Unix seconds. */
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
