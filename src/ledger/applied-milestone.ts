/**
 * Applied milestones explained: their blocks in white-flag order with the verdicts, and what a
 * proof of inclusion is made of.
 */
import { fromBase64, Reader, toHexDigits } from '../stardust/bytes.ts';
import { decode } from '../stardust/codec.ts';
import { milestone } from '../stardust/milestone.ts';
import type { ConflictReason } from '../stardust/semantics/conflict-reason.ts';
import { type Database, runBatch } from './database.ts';
import { selectIds } from './id-index.ts';
import type { MilestoneStatus } from './node-status.ts';
import { PARTS, type PackedBlock, readPackedBlocks } from './packs.ts';
import { requireSchemaOf, SELECT_SCHEMA } from './schema.ts';

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
  /** Where in `included` those stand whose transactions were applied, ascending. */
  applied: readonly number[];
}

/** A snapshot may bring its milestone with the payload, but not what it references. */
const SELECT_MILESTONE = `
  SELECT id, timestamp, payload FROM milestone
  WHERE idx = ?1 AND idx > (SELECT start FROM head) AND payload IS NOT NULL`;

const SELECT_BLOCKS = `
  SELECT blocks FROM pack WHERE key >= ?1 * ${PARTS} AND key < (?1 + 1) * ${PARTS} ORDER BY key`;

/** Undefined where the milestone was not applied here, or its blocks are pruned. */
export async function explainMilestone(
  db: Database,
  index: number,
): Promise<ExplainedMilestone | undefined> {
  const [heads, milestones, packs] = await runBatch(db, [
    db.prepare(SELECT_SCHEMA),
    db.prepare(SELECT_MILESTONE).bind(index),
    db.prepare(SELECT_BLOCKS).bind(index),
  ]);
  requireSchemaOf(heads);
  const row = milestones![0];
  if (row === undefined) return undefined;
  const payload = decode(milestone, new Reader(fromBase64(String(row.payload))));
  return {
    index,
    timestamp: Number(row.timestamp),
    milestoneId: String(row.id),
    inclusionMerkleRoot: toHexDigits(payload.inclusionMerkleRoot),
    appliedMerkleRoot: toHexDigits(payload.appliedMerkleRoot),
    blocks: packs!.flatMap(({ blocks }) => readPackedBlocks(String(blocks)).map(explainBlock)),
  };
}

function explainBlock({ id, payload, reason }: PackedBlock): ExplainedBlock {
  return {
    blockId: id,
    payload: PAYLOADS[payload] ?? 'taggedData',
    reason: reason as ConflictReason | undefined,
  };
}

/** Of blocks, by payload type (docs/protocol.md, A.1). */
const PAYLOADS: Record<number, ExplainedBlock['payload']> = {
  0: 'none',
  5: 'taggedData',
  6: 'transaction',
  7: 'milestone',
};

/**
 * The packs of the milestone that references the block ?1, and the block's bytes in one of them.
 */
const SELECT_PROOF = `
  SELECT p.blocks, m.payload, (
    SELECT p.bytes ->> ('$[' || b.key || ']') FROM json_each(p.blocks) b WHERE b.value ->> 0 = ?1
  ) AS bytes
  FROM (${selectIds('json_array(?1)')}) f
    CROSS JOIN milestone m ON m.idx = f.milestone AND m.payload IS NOT NULL
    CROSS JOIN pack p ON p.key >= f.milestone * ${PARTS} AND p.key < (f.milestone + 1) * ${PARTS}
  ORDER BY p.key`;

/** Bytes of a block ID. */
const ID_LENGTH = 32;

/** Undefined where no applied milestone references the block, or the data is pruned. */
export async function proveBlock(db: Database, blockId: string): Promise<BlockProof | undefined> {
  const [heads, packs] = await runBatch(db, [
    db.prepare(SELECT_SCHEMA),
    db.prepare(SELECT_PROOF).bind(blockId),
  ]);
  requireSchemaOf(heads);
  const bytes = packs!.find((pack) => pack.bytes !== null)?.bytes;
  if (bytes === undefined) return undefined;
  const blocks = packs!.flatMap((pack) => readPackedBlocks(String(pack.blocks)));
  // all at once: a call for each of a thousand IDs takes ten times as long
  const ids = Uint8Array.fromHex(blocks.map(({ id }) => id).join(''));
  return {
    milestone: fromBase64(String(packs![0]!.payload)),
    block: fromBase64(String(bytes)),
    included: blocks.map((_, i) => ids.subarray(i * ID_LENGTH, (i + 1) * ID_LENGTH)),
    position: blocks.findIndex(({ id }) => id === blockId),
    applied: blocks.flatMap(({ reason }, position) => (reason === 0 ? [position] : [])),
  };
}
