/**
 * Pruning: what no answer needs any more goes, in small steps (design §5, "Retention").
 *
 * The oldest row of `milestone`, f, is the first state that can be asked for. So it is what moves first; only what lies before f is touched. A request about
 * milestone m > f needs the row of m - 1, the records of the blocks that milestones from m on reference and of the open ones, and the outputs that were not
 * spent before m. Hence it needs no block of a milestone before f but its ID, at which the walk stops, and no output spent before f: that one is as good as
 * unknown, as whatever spends it conflicts, and whatever creates it has spent its own inputs long ago and conflicts as well.
 *
 * Blocks are swept in the order of their rows, as far as they are not needed: then whatever is kept has a greater row. That tells which outputs can go that
 * never came into the ledger: those that no kept block mentions, as `seen` names the last block that does. IDs of referenced blocks stay far longer than
 * their bytes (design §3, the trap).
 *
 * A row number must not come back, as someone may still have it in hand: so the highest output stays (lookup.ts counts on from there). The highest block is
 * never swept: the ledger's own milestone references blocks that were stored later than any that is swept.
 */

import { type Database, runBatch } from './database.ts';
import { requireGeneration, runFenced } from './fence.ts';
import { dropOrphans } from './orphans.ts';

/** Rows that one step removes of each kind. */
const STEP = 1000;

/** How many times longer than all else the IDs of referenced blocks are kept. */
const ID_RETENTION = 4;

const FIRST = '(SELECT min(idx) FROM milestone)';

/** ?1 the step, ?2 milestones kept before the ledger's. */
const DELETE_MILESTONES = `
  DELETE FROM milestone WHERE idx IN (
    SELECT idx FROM milestone WHERE idx < (SELECT ledger FROM head) - ?2 ORDER BY idx LIMIT ?1)`;

const SPENT = `FROM spent WHERE milestone < ${FIRST} ORDER BY milestone, output LIMIT ?1`;

const DELETE_SPENT_OUTPUTS = `
  DELETE FROM output WHERE row IN (SELECT output ${SPENT}) AND row < (SELECT max(row) FROM output)`;

const DELETE_SPENT = `DELETE FROM spent WHERE (milestone, output) IN (SELECT milestone, output ${SPENT})`;

/** ?1 the step, ?2 milestones kept before the ledger's. Only what is swept: all rows before the first with bytes. */
const FORGET_IDS = `
  DELETE FROM block WHERE row < (SELECT min(row) FROM block_bytes) AND row IN (
    SELECT row FROM block WHERE milestone BETWEEN 0 AND (SELECT ledger FROM head) - ?2 - 1 ORDER BY milestone LIMIT ?1)`;

/** The first block that has its bytes, if it can be swept. */
const SWEEPABLE = `SELECT 1 FROM block WHERE row = (SELECT min(row) FROM block_bytes) AND milestone < ${FIRST}`;

/** Behind the last row that can be swept now; no row when none can. Most of the time it is enough to look at the first. */
const SELECT_SWEEP = `
  SELECT generation, coalesce(min(CASE WHEN kept THEN row END), max(row) + 1) AS bound FROM head, (
    SELECT x.row, b.milestone IS NULL OR b.milestone >= ${FIRST} AS kept
    FROM block_bytes x CROSS JOIN block b ON b.row = x.row
    ORDER BY x.row LIMIT CASE WHEN EXISTS (${SWEEPABLE}) THEN ?1 ELSE 0 END)
  HAVING min(row) IS NOT NULL`;

/** With ?1 the bound: what is swept. */
const SWEPT = 'FROM block_bytes x WHERE x.row < ?1';

/** The outputs of a transaction have IDs that begin with its own. */
const DELETE_UNBOOKED_OUTPUTS = `
  DELETE FROM output WHERE created IS NULL AND seen < ?1 AND row < (SELECT max(row) FROM output) AND row IN (
    SELECT i.output FROM block_bytes x CROSS JOIN input i ON i.block = x.row WHERE x.row < ?1
    UNION ALL
    SELECT o.row FROM block_bytes x CROSS JOIN block b ON b.row = x.row CROSS JOIN output o ON o.id > b.tx AND o.id < b.tx || 'g'
    WHERE x.row < ?1)`;

const DELETE_WAITING = `
  DELETE FROM waiting WHERE (output, block) IN (
    SELECT i.output, i.block FROM block_bytes x CROSS JOIN input i ON i.block = x.row WHERE x.row < ?1)`;

const DELETE_INPUTS = `DELETE FROM input WHERE block IN (SELECT x.row ${SWEPT})`;

/** Of dropped blocks not even the ID is left. The sign keeps SQLite from looking for them by their milestone. */
const DELETE_DROPPED = `DELETE FROM block WHERE row IN (SELECT x.row ${SWEPT}) AND +milestone < 0`;

const EMPTY_BLOCKS = `
  UPDATE block SET position = NULL, reason = NULL, tx = NULL, record = NULL WHERE row IN (SELECT x.row ${SWEPT})`;

const DELETE_BYTES = 'DELETE FROM block_bytes WHERE row < ?1';

export interface PruneOptions {
  /** Milestones for which the IDs of referenced blocks are kept, no fewer than all else. */
  idRetention?: number;
  /** Rows. */
  step?: number;
}

/**
 * One step. What is left to do, the next one goes on with, wherever this one was cut off. Throws LedgerMoved when somebody else was at work meanwhile.
 *
 * @param retention milestones before the ledger's whose states can be asked for
 */
export async function prune(
  db: Database,
  retention: number,
  options: PruneOptions = {},
): Promise<void> {
  const { idRetention = retention * ID_RETENTION, step = STEP } = options;
  await runBatch(db, [
    db.prepare(DELETE_MILESTONES).bind(step, retention),
    db.prepare(DELETE_SPENT_OUTPUTS).bind(step),
    db.prepare(DELETE_SPENT).bind(step),
    db.prepare(FORGET_IDS).bind(step, idRetention),
  ]);
  await sweepBlocks(db, step);
  await dropOrphans(db, step);
}

async function sweepBlocks(db: Database, step: number): Promise<void> {
  const [sweeps] = await runBatch(db, [db.prepare(SELECT_SWEEP).bind(step)]);
  const sweep = sweeps![0];
  if (sweep === undefined) return;
  const statements = [
    DELETE_UNBOOKED_OUTPUTS,
    DELETE_WAITING,
    DELETE_INPUTS,
    DELETE_DROPPED,
    EMPTY_BLOCKS,
    DELETE_BYTES,
  ].map((sql) => db.prepare(sql).bind(Number(sweep.bound)));
  await runFenced(db, [requireGeneration(db, String(sweep.generation)), ...statements]);
}
