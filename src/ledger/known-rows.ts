/**
 * Lookups by ID: which blocks and outputs D1 knows, and the next free rows.
 */
import { fromBase64 } from '../stardust/bytes.ts';
import { type KnownBlock, knownBlocks, SELECT_BLOCKS } from './consistent-view.ts';
import { type Database, forEachPiece, runBatch } from './database.ts';
import type { KnownOutput, Rows } from './prepare-blocks.ts';

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
): Promise<Omit<Rows, 'blocks'>> {
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
