/**
 * Pruning: what no answer needs any more goes, in small steps (docs/storage.md#pruning).
 *
 * The oldest row of `milestone`, f, is the first state that can be asked for. So it is what moves
 * first; only what lies before f is touched. A request about milestone m > f needs the row of m -
 * 1, the packs of milestones from m on, and the open ones. IDs stay far longer, for blocks that
 * were referenced long ago must not be taken for open ones (docs/architecture.md#the-trap).
 */
import { type Database, runBatch } from './database.ts';
import { requireLedger, runFenced } from './fence.ts';
import { headFromRow, SELECT_HEAD } from './head.ts';
import { requireIdTables, turnOver, turnOverStatements } from './id-index.ts';
import { dropOrphans } from './orphans.ts';
import { PARTS } from './packs.ts';
import { SCHEMA } from './schema.ts';

/** Rows that one step removes of each kind, and blocks that it drops. */
const STEP = 1000;

/** How many times longer than all else IDs are kept. */
const ID_RETENTION = 4;

/** The batch reads the head too: of a ledger with another schema nothing may be deleted. */
const IS_OURS = `(SELECT schema FROM head) = ${SCHEMA}`;

/** ?1 the step, ?2 milestones kept before the ledger's. */
const DELETE_MILESTONES = `
  DELETE FROM milestone WHERE idx IN (
    SELECT idx FROM milestone WHERE idx < (SELECT ledger FROM head) - ?2 ORDER BY idx LIMIT ?1)
    AND ${IS_OURS}`;

/** The oldest packs of milestones before the first. */
const DELETE_PACKS = `
  DELETE FROM pack WHERE key IN (
    SELECT key FROM pack WHERE key < (SELECT min(idx) FROM milestone) * ${PARTS}
    ORDER BY key LIMIT ?1)
    AND ${IS_OURS}`;

export interface PruneOptions {
  /** Milestones for which IDs are kept, no fewer than all else. */
  idRetention?: number;
  /** Rows. */
  step?: number;
}

/**
 * One step. What is left to do, the next one goes on with, wherever this one was cut off. Throws
 * LedgerMoved when somebody else was at work meanwhile.
 *
 * @param retention milestones before the ledger's whose states can be asked for
 */
export async function prune(
  db: Database,
  retention: number,
  options: PruneOptions = {},
): Promise<void> {
  const { idRetention = retention * ID_RETENTION, step = STEP } = options;
  const [heads] = await runBatch(db, [
    db.prepare(SELECT_HEAD).bind(null),
    db.prepare(DELETE_MILESTONES).bind(step, retention),
    db.prepare(DELETE_PACKS).bind(step),
  ]);
  if (heads![0] === undefined) return;
  const head = headFromRow(heads![0]);
  const { ledger, idTables } = head;
  const due = turnOver(idTables, ledger, Math.max(retention, 1), idRetention);
  if (due !== undefined) {
    await runFenced(db, [
      requireLedger(db, head),
      requireIdTables(db, idTables),
      ...(await turnOverStatements(db, due)),
    ]);
  }
  await dropOrphans(db, step);
}
