/** One output of the ledger by its ID, spent ones too while they are kept. */
import { LedgerDamaged } from '../core/checksum.ts';
import type { Database } from '../core/database.ts';
import { selectHead } from '../core/head.ts';
import { selectIds } from '../core/id-index.ts';
import {
  outputColumns,
  readOutputBytes,
  type UnspentOutput,
  unspentFromRow,
} from '../core/output-bytes.ts';
import { first, many, type Row, readBatch } from '../core/read-batch.ts';
import { summedColumns } from '../core/row-sum.ts';
import { selectSpent } from '../intake/known-outputs.ts';
import { readSpentOutput, type SpentRow } from '../packs/milestone-part.ts';

export interface OutputStatus {
  outputId: string;
  /** The output as its transaction has it. */
  bytes: Uint8Array;
  /** All zero for migrated outputs. */
  blockId: string;
  bookedIndex: number;
  bookedTimestamp: number;
  /** Undefined while unspent. */
  spent: { index: number; timestamp: number; transactionId: string } | undefined;
  /** The ledger index at which all this is true. */
  ledgerIndex: number;
}

const SELECT_UNSPENT = `SELECT ${outputColumns('o')} FROM output o WHERE id = ?1`;

function statusOf(
  { id, bytes, block, created, createdTime }: UnspentOutput,
  spent: OutputStatus['spent'],
  ledgerIndex: number,
): OutputStatus {
  const booked = { bookedIndex: created, bookedTimestamp: createdTime };
  return { outputId: id, bytes, blockId: block, ...booked, spent, ledgerIndex };
}

/** @param row its {@link outputColumns}, with that prefix */
export const unspentStatus = (row: Row, ledgerIndex: number, prefix?: string): OutputStatus =>
  statusOf(unspentFromRow(row, prefix), undefined, ledgerIndex);

const SELECT_SPENT = `
  SELECT f.*, ${summedColumns('milestone', 'm', 'milestone_')},
    ${selectSpent('f.milestone', '?1')} AS output
  FROM (${selectIds('json_array(?1)')}) f LEFT JOIN milestone m ON m.idx = f.milestone`;

/** @param milestone the one that spent it */
export function spentStatus(
  spent: SpentRow,
  milestone: { index: number; timestamp: number },
  ledgerIndex: number,
): OutputStatus {
  const { bytes, transaction: transactionId, ...facts } = readSpentOutput(spent);
  const output = { ...facts, bytes: readOutputBytes(bytes, facts.id) };
  return statusOf(output, { ...milestone, transactionId }, ledgerIndex);
}

/**
 * Returns undefined if neither the ledger nor a kept milestone has it. Throws a LedgerUnreadable if
 * the ledger has another schema.
 */
export async function readOutput(
  db: Database,
  outputId: string,
): Promise<OutputStatus | undefined> {
  const { head, unspent, spent } = await readBatch(db, {
    head: selectHead(db),
    unspent: first(db.prepare(SELECT_UNSPENT).bind(outputId), (row) => row),
    spent: first(db.prepare(SELECT_SPENT).bind(outputId), (row) => row),
  });
  if (head === undefined) return undefined;
  if (unspent && spent) throw new LedgerDamaged('rows of the table output');
  if (unspent !== undefined) return unspentStatus(unspent, head.ledger);
  if (spent === undefined) return undefined;
  spent.requireSum('id');
  // pruned
  if (spent.integerOrNull('milestone_idx') === null) return undefined;
  spent.requireSum('milestone', 'milestone_');
  const text = spent.textOrNull('output');
  // parts are not pruned before their milestone
  if (text === null) throw new LedgerDamaged('rows of the table milestone_part');
  const index = spent.integer('milestone');
  const timestamp = spent.integer('milestone_timestamp');
  return spentStatus(JSON.parse(text), { index, timestamp }, head.ledger);
}

const SELECT_UNSPENT_OF = `
  SELECT ${outputColumns('o')} FROM output o WHERE id IN (SELECT value FROM json_each(?1))`;

/** Returns those of these outputs, by hex ID, that are unspent. */
export async function readUnspentOutputs(
  db: Database,
  outputIds: readonly string[],
): Promise<OutputStatus[]> {
  const { head, outputs } = await readBatch(db, {
    head: selectHead(db),
    outputs: many(db.prepare(SELECT_UNSPENT_OF).bind(JSON.stringify(outputIds)), (row) => row),
  });
  return head === undefined ? [] : outputs.map((row) => unspentStatus(row, head.ledger));
}
