/**
 * Dropping unreferenced blocks that turned out to be referenced: a signed milestone has them in its
 * past cone and does not reference them, so an earlier one did. From then on they are known as entry
 * points, as those that a snapshot names.
 */
import type { Database } from '../core/database.ts';
import { runFenced } from '../core/fence.ts';
import { moveFingerprints } from '../core/fingerprint.ts';
import { write } from '../core/read-batch.ts';
import { countVisible, packAt } from '../packs/viewed-packs.ts';
import type { ConsistentView } from '../view/consistent-view.ts';
import { placesOf } from '../view/doubtful-blocks.ts';
import {
  DELETE_STAGED,
  isDroppedFrom,
  noteDropped,
  withDescendants,
  withoutBlocks,
  youngest,
} from './drop-blocks.ts';
import { insertEntryPoints, moveByBlocks } from './insert-ids.ts';
import { requireSameUnreferenced } from './same-unreferenced.ts';

/**
 * Drops these blocks, with whatever visible blocks stand upon them, and all staged blocks: what is
 * still needed is stored again, upon the entry points. Throws a LedgerMoved when the unreferenced
 * blocks are not those of the view any more. One step, of as many packs as any other; if that is not
 * enough, the milestone finds the rest.
 *
 * @param referenced positions in the view's cone; with each block all that it leads to there
 */
export async function dropReferenced(
  db: Database,
  view: ConsistentView,
  referenced: ReadonlySet<number>,
): Promise<void> {
  const { cone, packs, head } = view;
  const isVisible = (position: number) => !packs[packAt(packs, position)]!.isStaged;
  const visible = visiblePositions(view);
  const chosen = withDescendants(cone, visible, referenced);
  const dropped = youngest(view, visible, chosen);
  const gone = [...referenced].filter((position) => dropped.has(position));
  // those that are staged stand upon visible ones, and are known only once these are
  if (dropped.size === chosen.size)
    gone.push(...[...referenced].filter((position) => !isVisible(position)));
  const left = countVisible(view, (position) => dropped.has(position));
  const { idTables, start } = head;
  const places = placesOf(packs, gone);
  const fingerprints = moveFingerprints(head.integrity);
  await moveByBlocks(db, fingerprints, idTables, 'entryPoint', start, places);
  const statements = [
    requireSameUnreferenced(db, head, view.stored),
    ...insertEntryPoints(db, idTables, start, places),
    ...packs
      .filter((pack) => isDroppedFrom(pack, dropped))
      .flatMap((pack) => withoutBlocks(db, cone, pack, dropped)),
    db.prepare(DELETE_STAGED),
    noteDropped(db, view, left, fingerprints.moved()),
  ];
  await runFenced(db, { writes: write(statements) });
}

/** Of the visible unreferenced blocks, by their numbers, ascending. */
function visiblePositions({ cone, packs }: ConsistentView): number[] {
  const positions: number[] = [];
  for (const { first, statuses, isStaged } of packs) {
    for (let at = 0; !isStaged && at < statuses.size; at++)
      if (statuses.milestoneAt(at) === 0) positions.push(first + at);
  }
  return positions.sort((a, b) => cone.numberAt(a) - cone.numberAt(b));
}
