/**
 * Orphans: open blocks so old that no milestone is likely to reference them any more (design §3, the open set is bounded).
 *
 * A block goes together with all open blocks upon it: a parent that is not there is taken for one that a milestone references, so that a child left behind
 * would be answered for without its past. They go from the youngest row down, so that this holds after every step; and only if nothing was stored or taken
 * in since they were looked for. Whoever stores a child afterwards finds its parent gone (store.ts), whoever takes a milestone in a block missing (apply.ts).
 *
 * A dropped block is not found by its ID any more, which is free for when it comes again. Its row is kept without the bytes until the sweep (prune.ts) has
 * come that far, as only then it is known which of the outputs that it mentions are mentioned by nothing else.
 */
import { readCone } from '../stardust/white-flag/cone.ts';
import { MAX_CHUNKS_TO_FOLLOW, readView } from './consistent-view.ts';
import { type Database, forEachPiece, runBatch } from './database.ts';
import { failUnless, LedgerMoved, requireGeneration, runFenced } from './fence.ts';
import { headFromRow, SELECT_HEAD } from './head.ts';
import { parametersAt, parameterTable, SELECT_PARAMETERS } from './ledger-parameters.ts';
import { DELETE_WAITING } from './store-blocks.ts';

/** Milestones beyond below-max-depth for which an open block is kept (design §3). */
const MARGIN = 10;

const SELECT_OLDEST = 'SELECT id, seen FROM block WHERE milestone IS NULL ORDER BY row LIMIT 1';

/** ?1 the ledger index before which a block is old. */
const SELECT_OLD = 'SELECT row FROM block WHERE milestone IS NULL AND seen < ?1 ORDER BY row';

const SELECT_TOP = 'SELECT max(row) AS row FROM block';

/** Nothing was stored or taken in. */
const REQUIRE_SAME = failUnless(
  '(SELECT max(row) FROM block) = ?1 AND (SELECT ledger FROM head) = ?2',
);

/** A row number is no ID of a block. */
const DROP_BLOCKS =
  'UPDATE block SET id = row, milestone = -1 WHERE row IN (SELECT value FROM json_each(?1))';

const EMPTY_BYTES =
  "UPDATE block_bytes SET bytes = '' WHERE row IN (SELECT value FROM json_each(?1))";

/** @param step the most blocks to drop */
export async function dropOrphans(db: Database, step: number): Promise<void> {
  const [heads, options, oldest, tops] = await runBatch(db, [
    db.prepare(SELECT_HEAD).bind(null),
    db.prepare(SELECT_PARAMETERS),
    db.prepare(SELECT_OLDEST),
    db.prepare(SELECT_TOP),
  ]);
  if (heads![0] === undefined || oldest![0] === undefined) return;
  const { generation, ledger } = headFromRow(heads![0]);
  const { belowMaxDepth } = parametersAt(parameterTable(options!), ledger);
  const first = ledger - belowMaxDepth - MARGIN;
  if (Number(oldest![0].seen) >= first) return;

  const orphans = await findOrphans(db, ledger, String(oldest![0].id), first);
  const dropped = orphans.sort((a, b) => b - a).slice(0, step);
  await runFenced(db, [
    requireGeneration(db, generation),
    db.prepare(REQUIRE_SAME).bind(Number(tops![0]!.row), ledger),
    ...forEachPiece(db, DROP_BLOCKS, dropped),
    ...forEachPiece(db, EMPTY_BYTES, dropped),
    ...forEachPiece(db, DELETE_WAITING, dropped),
  ]);
}

/** Rows of the old blocks and of all upon them. */
async function findOrphans(
  db: Database,
  ledger: number,
  oldest: string,
  first: number,
): Promise<number[]> {
  // the view of a proposal upon an open block holds all of them
  const view = await readView(db, ledger + 1, [oldest], MAX_CHUNKS_TO_FOLLOW);
  if (view === undefined) throw new LedgerMoved('there is no ledger any more');
  const cone = readCone([view.records]);
  const old = (await db.prepare(SELECT_OLD).bind(first).all<{ row: number }>()).results;
  const orphans = new Set(old.map(({ row }) => row));
  const rows = Array.from({ length: cone.size }, (_, position) => cone.rowAt(position)).sort(
    (a, b) => a - b,
  );
  // a block's row is greater than its parents' rows
  for (const row of rows) {
    const position = cone.find(row);
    for (let parent = 0; parent < cone.parentCountAt(position); parent++) {
      if (orphans.has(cone.parentAt(position, parent))) orphans.add(row);
    }
  }
  return [...orphans];
}
