/** Finds known blocks and outputs, so that nothing more is read for the others. */
import { type Database, forEachPiece } from '../../ledger/core/database.ts';
import { selectHead } from '../../ledger/core/head.ts';
import { findReferenced } from '../../ledger/core/id-index.ts';
import { many, readBatch } from '../../ledger/core/read-batch.ts';
import { findVisible } from '../../ledger/packs/live-packs.ts';

const SELECT_OUTPUTS = 'SELECT id FROM output WHERE id IN (SELECT value FROM json_each(?1))';

/**
 * Returns those of these IDs that the ledger or an unreferenced block has, spent outputs as long as
 * their milestone's IDs are kept. One batch, and one pass over the unreferenced blocks.
 *
 * @param ids hex
 */
export async function readKnownIds(
  db: Database,
  { blocks, outputs }: Record<'blocks' | 'outputs', readonly string[]>,
): Promise<ReadonlySet<string>> {
  const { unspent, stored, inIndex } = await readBatch(db, {
    // of a ledger that is damaged nothing is known
    head: selectHead(db),
    unspent: many(forEachPiece(db, SELECT_OUTPUTS, outputs), (row) => row.text('id')),
    stored: findVisible(db, blocks),
    inIndex: findReferenced(db, [...blocks, ...outputs]),
  });
  return new Set([...unspent, ...stored.map(({ id }) => id), ...inIndex.map(([id]) => id)]);
}
