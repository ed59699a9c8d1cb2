/**
 * Orphans: open blocks so old that no milestone is likely to reference them any more.
 *
 * A block goes together with all its open descendants: a parent that is not there is taken for one
 * that a milestone references, so that a child left behind would be answered for without its past.
 * The youngest go first, so that this holds after every step; and only if nothing was stored or
 * applied since they were looked for. Whoever stores a child meanwhile, or applies a milestone that
 * references an orphan, finds the open blocks changed (open-packs.ts).
 */
import type { Cone } from '../stardust/white-flag/cone.ts';
import { MAX_PACKS_TO_FOLLOW, readView } from './consistent-view.ts';
import { type Database, runBatch } from './database.ts';
import { LedgerMoved, runFenced } from './fence.ts';
import { headFromRow, SELECT_HEAD } from './head.ts';
import { parametersAt, parameterTable, SELECT_PARAMETERS } from './ledger-parameters.ts';
import { deleteOpenPacks, insertOpenPacks, requireOpenPacks } from './open-packs.ts';
import { packsToRewrite, readOpenPacks } from './rewrite-open.ts';
import { lastOpenPack } from './viewed-packs.ts';

/** Milestones beyond below-max-depth for which an open block is kept. */
const MARGIN = 10;

const SELECT_OLDEST = 'SELECT min(seen) AS seen FROM open';

/** ?1 the ledger index before which a block is old. */
const SELECT_OLD = `
  SELECT b.value ->> 0 AS number FROM open o CROSS JOIN json_each(o.blocks) b
  WHERE o.seen < ?1 AND b.value ->> 3 < ?1`;

const NOTE_DROPPED =
  'UPDATE head SET dropped = dropped + 1, next_block = ?1, next_output = ?2 WHERE one = 1';

/** @param step the most blocks to drop */
export async function dropOrphans(db: Database, step: number): Promise<void> {
  const [heads, options, oldest] = await runBatch(db, [
    db.prepare(SELECT_HEAD).bind(null),
    db.prepare(SELECT_PARAMETERS),
    db.prepare(SELECT_OLDEST),
  ]);
  if (heads![0] === undefined || oldest![0]!.seen === null) return;
  const { ledger } = headFromRow(heads![0]);
  const { belowMaxDepth } = parametersAt(parameterTable(options!), ledger);
  const first = ledger - belowMaxDepth - MARGIN;
  if (Number(oldest![0]!.seen) >= first) return;

  const [old] = await runBatch(db, [db.prepare(SELECT_OLD).bind(first)]);
  const request = { index: ledger + 1, named: [], maxPacks: MAX_PACKS_TO_FOLLOW };
  const view = await readView(db, request);
  if (view?.head.ledger !== ledger) throw new LedgerMoved('the ledger moved meanwhile');
  const orphans = withDescendants(view.cone, new Set(old!.map(({ number }) => Number(number))));
  const dropped = new Set([...orphans].sort((a, b) => b - a).slice(0, step));

  const leaves = (block: number) => dropped.has(block);
  const rewrite = packsToRewrite(view, leaves, () => false);
  const packs = await readOpenPacks(db, rewrite.left);
  const states = new Map(packs.flatMap((pack) => [...pack.states]));
  const left = packs.flatMap(({ blocks }) => blocks).filter(({ number }) => !dropped.has(number));
  const { nextBlock, nextOutput } = view.numbering;
  const next = { nextBlock, nextOutput };
  const rewritten = insertOpenPacks(
    db,
    left,
    next,
    () => next.nextBlock++,
    (output) => states.get(output),
  );
  await runFenced(db, [
    requireOpenPacks(db, view.head, lastOpenPack(view)),
    ...rewritten,
    ...deleteOpenPacks(db, rewrite.keys),
    db.prepare(NOTE_DROPPED).bind(next.nextBlock, next.nextOutput),
  ]);
}

/**
 * The blocks with these numbers, and all blocks of the cone that have one of them in their past.
 */
function withDescendants(cone: Cone, blocks: ReadonlySet<number>): Set<number> {
  const found = new Set<number>();
  const positions = Array.from({ length: cone.size }, (_, position) => position);
  // a block's number is greater than its parents' numbers
  for (const position of positions.sort((a, b) => cone.numberAt(a) - cone.numberAt(b))) {
    const number = cone.numberAt(position);
    let isFound = blocks.has(number);
    for (let parent = 0; parent < cone.parentCountAt(position); parent++)
      isFound ||= found.has(cone.parentAt(position, parent));
    if (isFound) found.add(number);
  }
  return found;
}
