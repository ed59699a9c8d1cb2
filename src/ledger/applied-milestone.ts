/**
 * Applied milestones explained: their blocks in white-flag order with the verdicts, and what a proof of inclusion is made of.
 */
import { fromBase64, Reader, toHexDigits } from '../stardust/bytes.ts';
import { decode } from '../stardust/codec.ts';
import { milestone } from '../stardust/milestone.ts';
import type { ConflictReason } from '../stardust/semantics/conflict-reason.ts';
import { type Database, runBatch } from './database.ts';
import type { MilestoneStatus } from './node-status.ts';

/** One block of an applied milestone, as the white flag judged it. */
export interface ExplainedBlock {
  blockId: string;
  payload: 'none' | 'transaction' | 'milestone' | 'taggedData';
  /** Of a transaction: 0 where it was applied. Undefined for the other blocks. */
  reason: ConflictReason | undefined;
}

export interface ExplainedMilestone extends MilestoneStatus {
  /** 64 digits each. */
  inclusionMerkleRoot: string;
  appliedMerkleRoot: string;
  /** In white-flag order. */
  blocks: readonly ExplainedBlock[];
}

/** What a proof of inclusion is made of. */
export interface BlockProof {
  /** The milestone payload's bytes. */
  milestone: Uint8Array;
  /** The block's bytes. */
  block: Uint8Array;
  /** IDs of the blocks that the milestone references, in white-flag order. */
  included: readonly Uint8Array[];
  /** Where the block stands in `included`. */
  position: number;
  /** IDs of those whose transactions were applied, same order. */
  applied: readonly Uint8Array[];
  /** Where the block stands in `applied`, if it does. */
  appliedPosition: number | undefined;
}

/** A snapshot may bring its milestone with the payload, but not what it references. */
const SELECT_MILESTONE = `
  SELECT id, timestamp, payload FROM milestone
  WHERE idx = ?1 AND idx > (SELECT start FROM head) AND payload IS NOT NULL`;

/** 360 digits of base64 reach over eight parents to the payload's type. */
const SELECT_BLOCKS = `
  SELECT b.id, b.tx, b.reason, substr(x.bytes, 1, 360) AS start
  FROM block b LEFT JOIN block_bytes x ON x.row = b.row WHERE b.milestone = ?1 AND b.position IS NOT NULL ORDER BY b.position`;

/** Undefined where the milestone was not applied here, or its blocks are pruned. */
export async function explainMilestone(
  db: Database,
  index: number,
): Promise<ExplainedMilestone | undefined> {
  const [milestones, blocks] = await runBatch(db, [
    db.prepare(SELECT_MILESTONE).bind(index),
    db.prepare(SELECT_BLOCKS).bind(index),
  ]);
  const row = milestones![0];
  if (row === undefined || blocks!.some(({ start }) => start === null)) return undefined;
  const payload = decode(milestone, new Reader(fromBase64(String(row.payload))));
  return {
    index,
    timestamp: Number(row.timestamp),
    milestoneId: String(row.id),
    inclusionMerkleRoot: toHexDigits(payload.inclusionMerkleRoot),
    appliedMerkleRoot: toHexDigits(payload.appliedMerkleRoot),
    blocks: blocks!.map(explainBlock),
  };
}

function explainBlock({ id, tx, reason, start }: Record<string, unknown>): ExplainedBlock {
  return {
    blockId: String(id),
    payload: payloadKind(fromBase64(String(start))),
    reason: tx === null ? undefined : (Number(reason) as ConflictReason),
  };
}

/** From a block's first bytes (A.1): version, parents, payload length, payload type. */
function payloadKind(start: Uint8Array): ExplainedBlock['payload'] {
  const reader = new Reader(start);
  reader.u8();
  reader.take(reader.u8() * 32);
  if (reader.u32() === 0) return 'none';
  const type = reader.u32();
  return type === 6 ? 'transaction' : type === 7 ? 'milestone' : 'taggedData';
}

const SELECT_BLOCK = `
  SELECT b.position, b.milestone, m.payload, x.bytes
  FROM block b JOIN milestone m ON m.idx = b.milestone JOIN block_bytes x ON x.row = b.row
  WHERE b.id = ?1 AND b.position IS NOT NULL AND m.payload IS NOT NULL`;

const SELECT_LIST = `
  SELECT b.id, b.tx IS NOT NULL AND b.reason = 0 AS applied FROM block b
  WHERE b.milestone = (SELECT milestone FROM block WHERE id = ?1) AND b.position IS NOT NULL ORDER BY b.position`;

/** Undefined where no applied milestone references the block, or the data is pruned. */
export async function proveBlock(db: Database, blockId: string): Promise<BlockProof | undefined> {
  const [found, list] = await runBatch(db, [
    db.prepare(SELECT_BLOCK).bind(blockId),
    db.prepare(SELECT_LIST).bind(blockId),
  ]);
  const row = found![0];
  if (row === undefined) return undefined;
  const applied = list!.filter((each) => each.applied === 1);
  const appliedPosition = applied.findIndex(({ id }) => id === blockId);
  return {
    milestone: fromBase64(String(row.payload)),
    block: fromBase64(String(row.bytes)),
    included: list!.map(({ id }) => Uint8Array.fromHex(String(id))),
    position: Number(row.position),
    applied: applied.map(({ id }) => Uint8Array.fromHex(String(id))),
    appliedPosition: appliedPosition === -1 ? undefined : appliedPosition,
  };
}
