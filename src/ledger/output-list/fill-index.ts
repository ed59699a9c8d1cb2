/**
 * Fills output_detail from the outputs of the ledger, in steps of one batch each
 * (docs/storage.md#lists). Milestones may be applied in between: a step leaves their rows.
 */
import { decodeOutput } from '../../stardust/wire/ids.ts';
import type { Database } from '../core/database.ts';
import { runFenced } from '../core/fence.ts';
import { ALL_INDEXED, keepsIndex, readHead } from '../core/head.ts';
import { countNext, outputColumns, unspentFromRow } from '../core/output-bytes.ts';
import { many, readQuery, write } from '../core/read-batch.ts';
import { lookTwice, moveHead, notingDamage } from '../core/write-head.ts';
import { type IndexSettings, wantsIndex } from './indexed-kinds.ts';
import { insertListRows, listRow } from './list-rows.ts';

/** Outputs of one step: a fraction of a second. */
export const STEP_OUTPUTS = 1000;

const SELECT_OUTPUTS = `
  SELECT ${outputColumns('o')} FROM output o WHERE id > ?1 ORDER BY id LIMIT ?2`;

/**
 * Takes one step towards lists of every kind, if they are wanted or begun. Returns whether no step
 * is left, also without a ledger. Throws a LedgerMoved if the ledger changes meanwhile, and a
 * LedgerDamaged, noted in the head, if an output is not what was written.
 *
 * @param most outputs of a step
 */
export async function fillIndex(
  db: Database,
  settings: IndexSettings,
  most = STEP_OUTPUTS,
): Promise<boolean> {
  const head = await readHead(db);
  if (head === undefined || head.indexed === ALL_INDEXED) return true;
  if (!wantsIndex(head.ledger, settings) && !keepsIndex(head)) return true;
  const count = await countNext(db, head.indexed, most);
  const outputs = many(db.prepare(SELECT_OUTPUTS).bind(head.indexed, count), (row) => {
    const { id, bytes, createdTime } = unspentFromRow(row);
    return listRow(decodeOutput(bytes), id, createdTime);
  });
  const rows = await notingDamage(db, head, () => lookTwice(() => readQuery(db, outputs)));
  const isLast = rows.length < count;
  const indexed = isLast ? ALL_INDEXED : String(rows.at(-1)![1]);
  const statements = [moveHead(db, head, { indexed }), ...insertListRows(db, rows)];
  await runFenced(db, { writes: write(statements) });
  return isLast;
}
