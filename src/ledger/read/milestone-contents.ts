/**
 * Contents of an applied milestone: outputs that it spent, and its blocks with their bytes, read in
 * steps, so that a milestone of any size fits into memory.
 */
import { fromBase64 } from '../../stardust/encoding/base64.ts';
import { readStored } from '../core/checksum.ts';
import type { Database } from '../core/database.ts';
import { LedgerMoved } from '../core/fence.ts';
import { type Head, selectHead } from '../core/head.ts';
import { type MilestoneWithPayload, milestoneWithPayload } from '../core/milestone-payload.ts';
import { first, many, readBatch, readQuery } from '../core/read-batch.ts';
import { isPartOf, spentSql } from '../packs/milestone-part.ts';
import { selectAllBytes } from '../packs/places.ts';
import { milestoneAt, type ReferencedBlock, selectBlocksOf } from '../packs/referenced-blocks.ts';
import { type OutputStatus, spentStatus } from './output-status.ts';

export interface MilestoneContents extends Omit<MilestoneWithPayload, 'blocks'> {
  /** Blocks that it references: none if it is the first of its network. */
  blockCount: number;
  /** Blocks in white-flag order; empty unless requested. */
  blocks: readonly ReferencedBlock[];
}

/** A referenced block with its bytes, and its place in the white-flag order. */
export interface BlockWithBytes extends ReferencedBlock {
  bytes: Uint8Array;
  whiteFlagIndex: number;
}

/** A snapshot may bring its milestone with the payload, but not what it references. */
const SELECT_MILESTONE = `
  SELECT * FROM milestone
  WHERE idx = ?1 AND idx > (SELECT start FROM head) AND payload IS NOT NULL`;

/**
 * Reads the head, undefined if nothing was imported, and the milestone, undefined if it was not
 * applied here, or is pruned.
 */
export async function readMilestoneContents(
  db: Database,
  index: number,
  withBlocks: boolean,
): Promise<{ head: Head | undefined; contents: MilestoneContents | undefined }> {
  const { head, milestone, listBlocks } = await readBatch(db, {
    head: selectHead(db),
    milestone: first(db.prepare(SELECT_MILESTONE).bind(index), milestoneWithPayload),
    listBlocks: withBlocks
      ? selectBlocksOf(db, milestoneAt(index))
      : { statements: [], read: () => () => [] },
  });
  if (milestone === undefined) return { head, contents: undefined };
  const { blocks: blockCount, ...facts } = milestone;
  return { head, contents: { ...facts, blockCount, blocks: listBlocks(blockCount) } };
}

/** The last parts may have blocks alone. */
const SELECT_NEXT_SPENT = `
  SELECT p.key, ${spentSql.whole('s.value')} AS spent
  FROM (
    SELECT key, spent FROM milestone_part WHERE ${isPartOf('key', '?1')} AND key > ?2
    ORDER BY key LIMIT 4) p CROSS JOIN json_each(p.spent) s
  ORDER BY p.key, s.key`;

/** Makes the error of a milestone that was there a moment ago. */
const pruned = (index: number) => new LedgerMoved(`milestone ${index} is pruned`);

/**
 * Yields outputs in the order in which they were spent, at most 15 MB at a time. Throws a
 * LedgerMoved if the milestone was pruned meanwhile.
 */
export async function* readSpentOutputs(
  db: Database,
  { index, timestamp, blockCount }: MilestoneContents,
): AsyncGenerator<OutputStatus[]> {
  if (blockCount === 0) return;
  for (let after = 0; ; ) {
    const { milestone, outputs } = await readBatch(db, {
      milestone: first(db.prepare(SELECT_MILESTONE).bind(index), (row) => row.integer('idx')),
      outputs: many(db.prepare(SELECT_NEXT_SPENT).bind(index, after), (row) => {
        after = row.integer('key');
        return spentStatus(JSON.parse(row.text('spent')), { index, timestamp }, index);
      }),
    });
    if (milestone === undefined) throw pruned(index);
    if (outputs.length === 0) return;
    yield outputs;
  }
}

/** Bytes of blocks by their IDs, by pack. */
export type BlockPieces = Map<number, ReadonlyMap<string, string>>;

/** Packs that are read at once, each mostly below a megabyte. */
const PACKS_AT_ONCE = 16;

/**
 * Yields blocks in white-flag order, but those of {@link PACKS_AT_ONCE} packs after the others: in
 * many packs the order leads from pack to pack. Throws a LedgerMoved if the milestone was pruned
 * meanwhile.
 *
 * @param pieces keeps what was read, if that is all, for a second time
 */
export async function* readBlocksWithBytes(
  db: Database,
  { index, blocks }: MilestoneContents,
  pieces: BlockPieces,
): AsyncGenerator<BlockWithBytes> {
  const byPack = [...Map.groupBy(blocks.entries(), ([, { pack }]) => pack)];
  for (let at = 0; at < byPack.length; at += PACKS_AT_ONCE) {
    const some = byPack.slice(at, at + PACKS_AT_ONCE);
    const wanted = some.map(([pack]) => pack);
    if (!wanted.every((pack) => pieces.has(pack))) {
      pieces.clear();
      for (const [pack, texts] of await readQuery(db, selectAllBytes(db, wanted)))
        pieces.set(pack, texts);
    }
    const blocksOfSome = some.flatMap(([, those]) => those).sort(([a], [b]) => a - b);
    for (const [whiteFlagIndex, block] of blocksOfSome) {
      const text = pieces.get(block.pack)?.get(block.id);
      if (text === undefined) throw pruned(index);
      yield { ...block, whiteFlagIndex, bytes: readStored(() => fromBase64(text)) };
    }
  }
}
