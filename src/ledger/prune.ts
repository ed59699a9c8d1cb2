/**
 * Pruning: data that no answer needs any more is deleted, in small steps (docs/storage.md#pruning).
 *
 * The oldest row of `milestone`, f, is the first state that can be queried. So it is what moves
 * first; only data from before f is deleted. A request about milestone m > f needs the row of m - 1,
 * the parts and packs of milestones from m on, and the live packs. IDs stay far longer, because
 * blocks that were referenced long ago must not be taken for unreferenced ones
 * (docs/architecture.md#the-trap).
 */
import { type Database, runBatch } from './database.ts';
import { requireLedger, runFenced } from './fence.ts';
import { headFromRow, SELECT_HEAD } from './head.ts';
import { requireIdTables, turnOver, turnOverStatements } from './id-index.ts';
import { PARTS } from './packs.ts';

/** Rows that one step deletes of each kind. */
const STEP = 1000;

/** How many times longer than all else IDs are kept. */
const ID_RETENTION = 4;

/** ?1 the step, ?2 milestones kept before the ledger's. */
const DELETE_MILESTONES = `
  DELETE FROM milestone WHERE idx IN (
    SELECT idx FROM milestone WHERE idx < (SELECT ledger FROM head) - ?2 ORDER BY idx LIMIT ?1)`;

/** The oldest parts of milestones before the first. */
const DELETE_PARTS = `
  DELETE FROM milestone_part WHERE key IN (
    SELECT key FROM milestone_part WHERE key < (SELECT min(idx) FROM milestone) * ${PARTS}
    ORDER BY key LIMIT ?1)`;

/** Packs all of whose blocks were referenced before the first; only the oldest are looked at. */
const DELETE_PACKS = `
  DELETE FROM pack WHERE key IN (SELECT key FROM pack ORDER BY key LIMIT ?1)
    AND live = 0 AND last_milestone < (SELECT min(idx) FROM milestone)`;

/** A pack is deleted when the last milestone is pruned that it has blocks of. */
const PACK_STEP = 16;

export interface PruneOptions {
  /** Milestones for which IDs are kept, no fewer than all else. */
  idRetention?: number;
  /** Rows. */
  step?: number;
}

/**
 * One step. The next one continues, wherever this one was cut off. Throws LedgerMoved when somebody
 * else wrote meanwhile.
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
    db.prepare(DELETE_PARTS).bind(step),
    db.prepare(DELETE_PACKS).bind(Math.min(step, PACK_STEP)),
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
}
