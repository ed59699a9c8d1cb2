/**
 * Applied milestones explained: their blocks in white-flag order with the verdicts, and the parts
 * of a proof of inclusion.
 */
import { HttpError } from '../../http/errors.ts';
import { LedgerDamaged } from '../../ledger/core/checksum.ts';
import type { Database } from '../../ledger/core/database.ts';
import { selectHead } from '../../ledger/core/head.ts';
import { findReferenced } from '../../ledger/core/id-index.ts';
import { milestoneWithPayload } from '../../ledger/core/milestone-payload.ts';
import { first, readBatch } from '../../ledger/core/read-batch.ts';
import {
  FIND_MILESTONE,
  milestoneOf,
  type ReferencedBlock,
  selectBlocksOf,
  selectReferencedBytes,
} from '../../ledger/packs/referenced-blocks.ts';
import { readMilestoneContents } from '../../ledger/read/milestone-contents.ts';
import type { MilestoneStatus } from '../../ledger/read/node-status.ts';
import { requireBlockId } from '../../ledger/read/stored-block.ts';
import { takeTurns } from '../../platform/clock.ts';
import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import { type Proof, proofSteps, verifyPath } from '../../stardust/proof/proof.ts';
import { PAYLOAD_KINDS, type PayloadKind } from '../../stardust/provenance/blocks.ts';
import type { ConflictReason } from '../../stardust/semantics/verdict.ts';
import { decodeMilestone } from '../../stardust/wire/decode-milestone.ts';

/** One block of an applied milestone, as the white flag judged it. */
export interface ExplainedBlock {
  blockId: string;
  payload: PayloadKind;
  /** Conflict reason of a transaction, 0 if it was applied; undefined for other blocks. */
  reason: ConflictReason | undefined;
}

export interface ExplainedMilestone extends MilestoneStatus {
  /** 64 digits each. */
  inclusionMerkleRoot: string;
  appliedMerkleRoot: string;
  blocks: readonly ExplainedBlock[];
}

export interface BlockProof {
  milestone: Uint8Array;
  block: Uint8Array;
  /** IDs of the blocks that the milestone references, in white-flag order. */
  included: readonly Uint8Array[];
  /** The position of the block in `included`. */
  position: number;
  /** Positions in `included` of blocks whose transactions were applied, ascending. */
  applied: readonly number[];
}

/** Limit of `verify` too: 9 MB of JSON, which takes 60 MB and 0.2 s. */
const MAX_MILESTONE_BLOCKS = 50_000;

/** Undefined where the milestone was not applied here, or its blocks are pruned. */
export async function explainMilestone(
  db: Database,
  index: number,
  most = MAX_MILESTONE_BLOCKS,
): Promise<ExplainedMilestone | undefined> {
  const { contents: counted } = await readMilestoneContents(db, index, false);
  if (counted !== undefined && counted.blockCount > most)
    throw new HttpError(500, 'this milestone has more blocks than one answer takes');
  const { contents } = await readMilestoneContents(db, index, true);
  if (contents === undefined) return undefined;
  const { id: milestoneId, timestamp, payload, blocks } = contents;
  return {
    index,
    timestamp,
    milestoneId,
    inclusionMerkleRoot: toHexDigits(payload.value.inclusionMerkleRoot),
    appliedMerkleRoot: toHexDigits(payload.value.appliedMerkleRoot),
    blocks: blocks.map(explainBlock),
  };
}

function explainBlock({ id, payload, reason }: ReferencedBlock): ExplainedBlock {
  return {
    blockId: id,
    payload: PAYLOAD_KINDS[payload] ?? 'taggedData',
    reason: reason as ConflictReason | undefined,
  };
}

const SELECT_PAYLOAD = `
  SELECT * FROM milestone WHERE idx = ${FIND_MILESTONE} AND payload IS NOT NULL`;

/** Undefined where no applied milestone references the block, or the data is pruned. */
export async function proveBlock(db: Database, blockId: string): Promise<BlockProof | undefined> {
  const { signed, listBlocks, block } = await readBatch(db, {
    head: selectHead(db),
    // compares the sum of what FIND_MILESTONE finds
    found: findReferenced(db, [blockId]),
    signed: first(db.prepare(SELECT_PAYLOAD).bind(blockId), milestoneWithPayload),
    listBlocks: selectBlocksOf(db, milestoneOf(blockId)),
    block: selectReferencedBytes(db, blockId),
  });
  // pruned, or an entry point, which the import's milestone is said to reference
  if (!signed?.blocks) return undefined;
  if (block === undefined) throw new LedgerDamaged('blocks of packs');
  requireBlockId(block, blockId);
  const blocks = listBlocks(signed.blocks);
  // all at once: a call for each of a thousand IDs takes ten times as long
  const ids = Uint8Array.fromHex(blocks.map(({ id }) => id).join(''));
  return {
    milestone: signed.payload.bytes,
    block,
    included: blocks.map((_, i) => ids.subarray(32 * i, 32 * (i + 1))),
    position: blocks.findIndex(({ id }) => id === blockId),
    applied: blocks.flatMap(({ reason }, position) => (reason === 0 ? [position] : [])),
  };
}

/** Throws a LedgerDamaged unless the path leads from the proved block to this root. */
export function requireRoot(
  { included, position }: BlockProof,
  path: Proof,
  root: Uint8Array,
): void {
  if (!verifyPath(path, included[position]!, root).ok)
    throw new LedgerDamaged('lists of blocks of a milestone');
}

/** The path to the applied root, checked; undefined if the block has no applied transaction. */
export async function pathToApplied(proof: BlockProof): Promise<Proof | undefined> {
  const place = proof.applied.indexOf(proof.position);
  if (place === -1) return undefined;
  const applied = proof.applied.map((at) => proof.included[at]!);
  const path = await makeProof(applied, place);
  requireRoot(proof, path, decodeMilestone(proof.milestone).value.appliedMerkleRoot);
  return path;
}

/** Other requests have turns between: a large milestone takes a second. */
export async function makeProof(ids: readonly Uint8Array[], index: number): Promise<Proof> {
  const turn = takeTurns();
  for (const steps = proofSteps(ids, index); ; await turn()) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
