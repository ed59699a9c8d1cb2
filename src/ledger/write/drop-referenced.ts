/**
 * Drops unreferenced blocks that turned out to be referenced: a signed milestone has them in its
 * past cone and does not reference them. From then on they are entry points, as a snapshot names.
 */
import type { Database } from '../core/database.ts';
import { runFenced } from '../core/fence.ts';
import { idTableName } from '../core/id-index.ts';
import { write } from '../core/read-batch.ts';
import { moveFingerprints } from '../core/row-sum.ts';
import { requireSameUnreferenced } from '../packs/next-numbers.ts';
import { countVisible, placesOf, visiblePositions } from '../packs/viewed-packs.ts';
import { deleteStaged, dropFromPacks } from '../packs/write-pack.ts';
import type { ConsistentView } from '../view/consistent-view.ts';
import { noteDropped, withDescendants } from './drop-blocks.ts';
import { insertEntryPoints, moveByBlocks } from './write-ids.ts';

/**
 * Drops these blocks, with whatever visible blocks stand upon them, and all staged blocks: what is
 * still needed is stored again, upon the entry points. Throws a LedgerMoved if the unreferenced
 * blocks are not those of the view any more.
 *
 * All at once, however many: a milestone's walk would end at the entry points of a first step, and
 * what is below would be shown as unreferenced until it is an orphan.
 *
 * @param referenced positions in the view's cone; with each block all that it leads to there
 */
export async function dropReferenced(
  db: Database,
  view: ConsistentView,
  referenced: ReadonlySet<number>,
): Promise<void> {
  const { cone, packs, head } = view;
  const dropped = withDescendants(cone, visiblePositions(view), referenced);
  const left = countVisible(view, (position) => dropped.has(position));
  const idTable = idTableName(head.idTables.at(-1)!);
  const places = [...placesOf(packs, referenced)];
  const fingerprints = moveFingerprints(head.integrity);
  await moveByBlocks(db, fingerprints, idTable, 'entryPoint', head.start, places);
  const statements = [
    requireSameUnreferenced(db, head, view.stored),
    ...insertEntryPoints(db, idTable, head.start, places),
    ...dropFromPacks(db, view, dropped),
    deleteStaged(db),
    noteDropped(db, view, left, fingerprints.moved()),
  ];
  await runFenced(db, { writes: write(statements) });
}
