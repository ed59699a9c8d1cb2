/**
 * Stored payloads of milestones, in the form of outputs' contents: with a checksum, as the milestone ID does not commit to the
 * signatures (docs/protocol.md, B.9).
 */
import { equalBytes, Reader } from '../../stardust/encoding/bytes.ts';
import { decode } from '../../stardust/encoding/codec.ts';
import { milestoneId } from '../../stardust/wire/ids.ts';
import { type Milestone, milestone } from '../../stardust/wire/milestone.ts';
import { LedgerDamaged } from './checksum.ts';
import { readOutputBytes } from './output-bytes.ts';
import type { Row } from './read-batch.ts';

/**
 * Throws a LedgerDamaged if the payload is not that of the milestone.
 *
 * @param row `id`, 64 hex digits, and `payload`, base64
 */
export function payloadFromRow(row: Row): {
  bytes: Uint8Array;
  value: Milestone;
} {
  const id = row.text('id');
  try {
    const bytes = readOutputBytes(row.text('payload'), id);
    const value = decode(milestone, new Reader(bytes));
    if (equalBytes(milestoneId(value, bytes), Uint8Array.fromHex(id))) return { bytes, value };
  } catch {
    // damaged, or not a milestone any more
  }
  throw new LedgerDamaged(`payload and ID of milestone 0x${id}`);
}
