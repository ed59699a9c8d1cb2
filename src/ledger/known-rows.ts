/**
 * Lookups by ID: which blocks and outputs D1 knows, and the next free rows.
 */
import { fromBase64 } from '../stardust/bytes.ts';
import { type Database, forEachPiece, runBatch } from './database.ts';

export interface KnownBlock {
  row: number;
  /** The milestone that references it, or null. */
  milestone: number | null;
}

/** What an output's ID stands for, as far as it is known. */
export interface KnownOutput {
  row: number;
  /** Absent while no block that creates it is known. */
  bytes?: Uint8Array;
  /** Milestone that created it in the ledger. */
  created?: number;
  /** Milestone that spent it. */
  spent?: number;
}

/** The rows of the blocks and outputs that a piece of work is about, and the next free ones. */
export interface RowNumbers {
  /** The import that the rows belong to (head.ts). */
  generation: string;
  /** By hex ID. */
  blocks: Map<string, KnownBlock>;
  /** By hex ID. */
  outputs: Map<string, KnownOutput>;
  nextBlock: number;
  nextOutput: number;
}

/** The known ones among the blocks with the IDs ?1. */
export const SELECT_BLOCKS =
  'SELECT j.value AS id, b.row, b.milestone FROM json_each(?1) j JOIN block b ON b.id = j.value';

const SELECT_OUTPUTS = `
  SELECT j.value AS id, o.row, o.bytes, o.created, o.spent FROM json_each(?1) j JOIN output o ON o.id = j.value`;

const SELECT_NEXT_ROWS = `
  SELECT (SELECT generation FROM head) AS generation, coalesce((SELECT max(row) FROM block), 0) + 1 AS block, coalesce((SELECT max(row) FROM output), 0) + 1 AS output`;

/** Which of these blocks D1 knows, given and answered by hex ID. */
export async function lookUpBlocks(
  db: Database,
  ids: readonly string[],
): Promise<Map<string, KnownBlock>> {
  return knownBlocks((await runBatch(db, forEachPiece(db, SELECT_BLOCKS, ids))).flat());
}

/** What D1 knows of these outputs, given by hex ID, and the rows from which on new ones are numbered. */
export async function lookUpOutputs(
  db: Database,
  ids: readonly string[],
): Promise<Omit<RowNumbers, 'blocks'>> {
  const [next, ...found] = await runBatch(db, [
    db.prepare(SELECT_NEXT_ROWS),
    ...forEachPiece(db, SELECT_OUTPUTS, ids),
  ]);
  return {
    outputs: knownOutputs(found.flat()),
    generation: String(next![0]!.generation),
    nextBlock: Number(next![0]!.block),
    nextOutput: Number(next![0]!.output),
  };
}

function knownOutputs(rows: readonly Record<string, unknown>[]): Map<string, KnownOutput> {
  return new Map(
    rows.map(({ id, row, bytes, created, spent }) => [
      String(id),
      {
        row: Number(row),
        ...(bytes !== null && { bytes: fromBase64(String(bytes)) }),
        ...(created !== null && { created: Number(created) }),
        ...(spent !== null && { spent: Number(spent) }),
      },
    ]),
  );
}

export function knownBlocks(rows: readonly Record<string, unknown>[]): Map<string, KnownBlock> {
  return new Map(
    rows.map(({ id, row, milestone }) => [
      String(id),
      { row: Number(row), milestone: milestone === null ? null : Number(milestone) },
    ]),
  );
}
