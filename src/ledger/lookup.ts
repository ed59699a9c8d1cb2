/**
 * Lookups by ID: which blocks and outputs D1 knows, and the next free rows.
 */
import { fromBase64 } from '../stardust/bytes.ts';
import type { KnownOutput, Rows } from './intake.ts';
import { type Database, forEachPiece, runBatch } from './rows.ts';
import { knownBlocks, SELECT_BLOCKS } from './view.ts';

const SELECT_OUTPUTS = `
  SELECT j.value AS id, o.row, o.bytes, o.created, o.spent FROM json_each(?1) j JOIN output o ON o.id = j.value`;

const SELECT_NEXT_ROWS = `
  SELECT (SELECT generation FROM head) AS generation, coalesce((SELECT max(row) FROM block), 0) + 1 AS block, coalesce((SELECT max(row) FROM output), 0) + 1 AS output`;

/** What D1 knows of these blocks and outputs, given by hex ID. */
export async function lookUpRows(
  db: Database,
  blockIds: readonly string[],
  outputIds: readonly string[],
): Promise<Rows> {
  const blocks = forEachPiece(db, SELECT_BLOCKS, blockIds);
  const outputs = forEachPiece(db, SELECT_OUTPUTS, outputIds);
  const [next, ...found] = await runBatch(db, [db.prepare(SELECT_NEXT_ROWS), ...blocks, ...outputs]);
  return {
    blocks: knownBlocks(found.slice(0, blocks.length).flat()),
    outputs: knownOutputs(found.slice(blocks.length).flat()),
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
