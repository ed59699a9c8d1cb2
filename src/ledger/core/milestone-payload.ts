/**
 * Payloads of milestones, as they are stored: their ID (docs/protocol.md, B.9) shows whether a bit
 * of what is signed was flipped on disk.
 */
import { equalBytes, fromBase64, Reader } from '../../stardust/encoding/bytes.ts';
import { decode } from '../../stardust/encoding/codec.ts';
import { milestoneId } from '../../stardust/wire/ids.ts';
import { type Milestone, milestone } from '../../stardust/wire/milestone.ts';
import { LedgerDamaged } from './checksum.ts';
import type { Row } from './read-batch.ts';

/**
 * Throws a LedgerDamaged where the payload is not that of the milestone.
 *
 * @param row `id`, 64 hex digits, and `payload`, base64
 */
export function payloadFromRow(row: Row): {
  bytes: Uint8Array;
  value: Milestone;
} {
  const id = row.text('id');
  try {
    const bytes = fromBase64(row.text('payload'));
    const value = decode(milestone, new Reader(bytes));
    if (equalBytes(milestoneId(value, bytes), Uint8Array.fromHex(id))) return { bytes, value };
  } catch {
    // neither base64 nor a milestone any more
  }
  throw new LedgerDamaged(`payload and ID of milestone 0x${id}`);
}
