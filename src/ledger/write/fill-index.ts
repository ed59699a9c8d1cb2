/**
 * Filling output_detail from the outputs of the ledger, in steps of one batch each
 * (docs/storage.md#lists-of-every-kind). Milestones may be applied between two steps: those change
 * rows of any output, and a step leaves rows that are there as they are.
 */

import { decodeOutput } from '../../stardust/wire/ids.ts';
import { OutputType } from '../../stardust/wire/output.ts';
import type { Database } from '../core/database.ts';
import { runFenced } from '../core/fence.ts';
import { ALL_INDEXED, type Head, keepsIndex, moveHead, readHead } from '../core/head.ts';
import { outputColumns, readOutputBytes } from '../core/output-bytes.ts';
import { many, type Row, readQuery, write } from '../core/read-batch.ts';
import { insertListRows, type ListRow, listRow } from '../output-list/list-rows.ts';

/** Outputs of one step: a fraction of a second, and up to 29 MB of contents. */
export const STEP_OUTPUTS = 1000;

/** Before the ID of any output. */
const BEGINNING = '0';

const SELECT_OUTPUTS = `
  SELECT ${outputColumns('o')} FROM output o WHERE id > ?1 ORDER BY id LIMIT ?2`;

const SELECT_DEFINITIONS = `
  SELECT sql FROM sqlite_master WHERE tbl_name = 'output_detail' AND sql IS NOT NULL
  ORDER BY type = 'index'`;

/** What decides whether the lists of a ledger have every kind of output. */
export interface IndexSettings {
  /** INDEX is `all`. */
  indexAll: boolean;
  /** The milestone at which the network ended: lists of such a ledger have every kind. */
  finalMilestone: number | undefined;
}

/**
 * Takes one step towards a table that is whole, or that is empty where it is not wanted. Returns
 * whether no step is left, which is so without a ledger. Throws a LedgerMoved where the ledger
 * changes meanwhile.
 *
 * @param most outputs of a step
 */
export async function fillIndex(
  db: Database,
  { indexAll, finalMilestone }: IndexSettings,
  most = STEP_OUTPUTS,
): Promise<boolean> {
  const head = await readHead(db);
  if (head === undefined) return true;
  if (!indexAll && head.ledger !== finalMilestone) {
    if (keepsIndex(head)) await empty(db, head, '');
    return true;
  }
  if (head.indexed === ALL_INDEXED) return true;
  if (!keepsIndex(head)) {
    await empty(db, head, BEGINNING);
    return false;
  }
  const outputs = await readQuery(
    db,
    many(db.prepare(SELECT_OUTPUTS).bind(head.indexed, most), outputFromRow),
  );
  const isLast = outputs.length < most;
  const indexed = isLast ? ALL_INDEXED : outputs.at(-1)!.id;
  const rows = outputs.flatMap(({ row }) => (row === undefined ? [] : [row]));
  const statements = [
    moveHead(db, head, { indexed }),
    ...insertListRows(db, 'output_detail', rows),
  ];
  await runFenced(db, { writes: write(statements) });
  return isLast;
}

function outputFromRow(row: Row): { id: string; row: ListRow | undefined } {
  row.requireSum('output');
  const id = row.text('id');
  const output = decodeOutput(readOutputBytes(row.text('bytes'), id));
  const isListed = output.type !== OutputType.Nft;
  return { id, row: isListed ? listRow(output, id, row.integer('created_time')) : undefined };
}

/** Rows that are deleted are billed, tables that are dropped are not. */
async function empty(db: Database, head: Head, indexed: string): Promise<void> {
  const definitions = await readQuery(
    db,
    many(db.prepare(SELECT_DEFINITIONS), (row) => row.text('sql')),
  );
  const statements = ['DROP TABLE output_detail', ...definitions].map((sql) => db.prepare(sql));
  await runFenced(db, { writes: write([moveHead(db, head, { indexed }), ...statements]) });
}
