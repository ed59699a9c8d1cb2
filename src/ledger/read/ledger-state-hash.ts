/**
 * The state hash of the ledger in D1 (stardust/state-hash.ts), read page by page.
 */

import { stateHash } from '../../stardust/state-hash.ts';
import type { LedgerOutput } from '../../stardust/wire/ledger-output.ts';
import { type Database, runBatch } from '../core/database.ts';
import { type Head, headFromRow, SELECT_HEAD } from '../core/head.ts';
import { readOutputBytes } from '../core/output-bytes.ts';

const PAGE = 1000;

/** Hex in lower case sorts as its bytes do. */
const SELECT_PAGE = `
  SELECT id, block, created, created_time, bytes FROM output
  WHERE id > ?1 ORDER BY id LIMIT ${PAGE}`;

/**
 * Throws when there is no ledger, or when it moves meanwhile: the pages would not be of one state.
 */
export async function ledgerStateHash(db: Database): Promise<Uint8Array> {
  const { head, rows } = await readPage(db, '');
  const treasury = {
    milestoneId: Uint8Array.fromHex(head.treasury.milestoneId),
    amount: head.treasury.amount,
  };
  return stateHash(head.ledger, treasury, outputsFrom(db, head, rows));
}

async function* outputsFrom(
  db: Database,
  { generation, ledger }: Head,
  first: Record<string, unknown>[],
): AsyncGenerator<LedgerOutput, void> {
  for (let rows = first; rows.length > 0; ) {
    for (const row of rows) yield outputFromRow(row);
    const page = await readPage(db, String(rows.at(-1)!.id));
    if (page.head.generation !== generation || page.head.ledger !== ledger) {
      throw new Error('the ledger moved while its state hash was taken');
    }
    rows = page.rows;
  }
}

async function readPage(
  db: Database,
  after: string,
): Promise<{ head: Head; rows: Record<string, unknown>[] }> {
  const [heads, rows] = await runBatch(db, [
    db.prepare(SELECT_HEAD).bind(null),
    db.prepare(SELECT_PAGE).bind(after),
  ]);
  if (heads![0] === undefined) throw new Error('there is no ledger to take the state hash of');
  return { head: headFromRow(heads![0]), rows: rows! };
}

function outputFromRow(row: Record<string, unknown>): LedgerOutput {
  return {
    outputId: Uint8Array.fromHex(String(row.id)),
    blockId: Uint8Array.fromHex(String(row.block)),
    bookedIndex: Number(row.created),
    bookedTimestamp: Number(row.created_time),
    bytes: readOutputBytes(String(row.bytes), String(row.id)),
  };
}
