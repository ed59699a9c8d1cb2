/**
 * One output of the ledger by its ID, spent ones too while they are kept.
 */

import { type Database, runBatch } from '../core/database.ts';
import { selectIds } from '../core/id-index.ts';
import { readOutputBytes } from '../core/output-bytes.ts';
import { readSpentOutput } from '../core/packs.ts';
import { requireSchemaOf } from '../core/schema.ts';
import { selectSpent } from '../intake/known-outputs.ts';

export interface OutputStatus {
  outputId: string;
  /** The output as its transaction has it. */
  bytes: Uint8Array;
  /** All zero for migrated outputs. */
  blockId: string;
  bookedIndex: number;
  /** Unix seconds. */
  bookedTimestamp: number;
  /** Undefined while unspent. */
  spent: { index: number; timestamp: number; transactionId: string } | undefined;
  /** The ledger index at which all this is true. */
  ledgerIndex: number;
}

const SELECT_UNSPENT = `
  SELECT h.schema, h.ledger, o.bytes, o.block, o.created, o.created_time
  FROM head h LEFT JOIN output o ON o.id = ?1`;

const SELECT_SPENT = `
  SELECT h.ledger, f.milestone, m.timestamp, ${selectSpent('f.milestone', '?1')} AS output
  FROM head h JOIN (${selectIds('json_array(?1)')}) f JOIN milestone m ON m.idx = f.milestone`;

/**
 * Undefined if neither the ledger nor a milestone that is not pruned yet has it. Throws a
 * LedgerUnreadable if the ledger has another schema.
 */
export async function readOutput(
  db: Database,
  outputId: string,
): Promise<OutputStatus | undefined> {
  const [unspent, spent] = await runBatch(db, [
    db.prepare(SELECT_UNSPENT).bind(outputId),
    db.prepare(SELECT_SPENT).bind(outputId),
  ]);
  requireSchemaOf(unspent);
  const held = unspent![0];
  if (held !== undefined && held.bytes !== null) {
    return {
      outputId,
      bytes: readOutputBytes(String(held.bytes), outputId),
      blockId: String(held.block),
      bookedIndex: Number(held.created),
      bookedTimestamp: Number(held.created_time),
      spent: undefined,
      ledgerIndex: Number(held.ledger),
    };
  }
  const gone = spent![0];
  if (gone === undefined || gone.output === null) return undefined;
  const { bytes, block, created, createdTime, transaction } = readSpentOutput(String(gone.output));
  return {
    outputId,
    bytes: readOutputBytes(bytes, outputId),
    blockId: block,
    bookedIndex: created,
    bookedTimestamp: createdTime,
    spent: {
      index: Number(gone.milestone),
      timestamp: Number(gone.timestamp),
      transactionId: transaction,
    },
    ledgerIndex: Number(gone.ledger),
  };
}
