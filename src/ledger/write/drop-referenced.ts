/**
 * Drops unreferenced blocks that turned out to be referenced: a signed milestone has them in its
 * past cone and does not reference them. From then on they are entry points, as a snapshot names.
 */
import type { Database } from '../core/database.ts';
import { LedgerMoved, runFenced } from '../core/fence.ts';
import { write } from '../core/read-batch.ts';
import { moveFingerprints } from '../core/row-sum.ts';
import { requireSameUnreferenced } from '../packs/next-numbers.ts';
import { countVisible, packAt, placesOf, visiblePositions } from '../packs/viewed-packs.ts';
import { deleteStaged, dropFromPacks } from '../packs/write-pack.ts';
import { type ConsistentView, readView } from '../view/consistent-view.ts';
import { noteDropped, withDescendants, youngest } from './drop-blocks.ts';
import { insertEntryPoints, moveByBlocks } from './write-ids.ts';

/**
 * Drops these blocks, with whatever visible blocks stand upon them, and all staged blocks: what is
 * still needed is stored again, upon the entry points. Throws a LedgerMoved if the unreferenced
 * blocks are not those of the view any more.
 *
 * In as many steps as it takes: a milestone's walk would end at the entry points of the first one,
 * and what is below would be shown as unreferenced until it is an orphan.
 *
 * @param referenced positions in the view's cone; with each block all that it leads to there
 */
export async function dropReferenced(
  db: Database,
  view: ConsistentView,
  referenced: ReadonlySet<number>,
): Promise<void> {
  const { generation, ledger } = view.head;
  let left = await dropSome(db, view, referenced);
  while (left.length > 0) {
    const now = await readView(db, { index: ledger + 1, named: [], withStaged: true });
    if (now?.head.generation !== generation || now.head.ledger !== ledger)
      throw new LedgerMoved('the ledger moved meanwhile');
    const positions = left.map(now.cone.find).filter((position) => position >= 0);
    left = await dropSome(db, now, new Set(positions));
  }
}

/** Takes one step; returns the numbers of those of the blocks that are left. */
async function dropSome(
  db: Database,
  view: ConsistentView,
  referenced: ReadonlySet<number>,
): Promise<number[]> {
  const { cone, packs, head } = view;
  const visible = visiblePositions(view);
  const chosen = withDescendants(cone, visible, referenced);
  const dropped = youngest(view, visible, chosen);
  const isGone = (position: number) => dropped.has(position) || packAt(packs, position).isStaged;
  const left = countVisible(view, (position) => dropped.has(position));
  const { idTables, start } = head;
  const places = [...placesOf(packs, [...referenced].filter(isGone))];
  const fingerprints = moveFingerprints(head.integrity);
  await moveByBlocks(db, fingerprints, idTables, 'entryPoint', start, places);
  const statements = [
    requireSameUnreferenced(db, head, view.stored),
    ...insertEntryPoints(db, idTables, start, places),
    ...dropFromPacks(db, view, dropped),
    deleteStaged(db),
    noteDropped(db, view, left, fingerprints.moved()),
  ];
  await runFenced(db, { writes: write(statements) });
  return [...referenced].filter((position) => !isGone(position)).map(cone.numberAt);
}
