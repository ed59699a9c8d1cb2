/**
 * Stored payloads of milestones, in the form of outputs' contents: with a checksum, as the milestone ID does not commit to the
 * signatures (docs/protocol.md, B.9).
 */
import { decode } from '../../stardust/encoding/codec.ts';
import { type Milestone, milestone } from '../../stardust/wire/milestone.ts';
import { LedgerDamaged } from './checksum.ts';
import { type KnownMilestone, milestoneFromRow } from './head.ts';
import { readOutputBytes } from './output-bytes.ts';
import type { Row } from './read-batch.ts';

/** A milestone with its payload. */
export interface MilestoneWithPayload extends KnownMilestone {
  index: number;
  payload: { bytes: Uint8Array; value: Milestone };
}

/** @param row all columns of a milestone, whose payload is there */
export function milestoneWithPayload(row: Row): MilestoneWithPayload {
  const milestone = milestoneFromRow(row, '')!;
  return { ...milestone, index: row.integer('idx'), payload: payloadFromRow(row) };
}

/**
 * Throws a LedgerDamaged if the payload is not what was written.
 *
 * @param row `id`, 64 hex digits, and `payload`, base64
 */
export function payloadFromRow(row: Row): MilestoneWithPayload['payload'] {
  const id = row.text('id');
  try {
    const bytes = readOutputBytes(row.text('payload'), id);
    return { bytes, value: decode(milestone, bytes) };
  } catch {
    throw new LedgerDamaged(`payload of milestone 0x${id}`);
  }
}
