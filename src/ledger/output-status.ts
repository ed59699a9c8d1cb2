/**
 * One output of the ledger by its ID, spent ones too while they are kept (formats-and-clients.md §2, outputs/{id}).
 */
import { fromBase64 } from '../stardust/bytes.ts';
import type { Database } from './database.ts';

export interface OutputStatus {
  outputId: string;
  /** The output as it stands in its transaction. */
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

const SELECT_OUTPUT = `
  SELECT o.bytes, o.block, o.created, o.created_time, o.spent, o.spent_time, o.spent_tx, h.ledger
  FROM head h JOIN output o ON o.id = ?1 WHERE o.created IS NOT NULL`;

export async function readOutput(
  db: Database,
  outputId: string,
): Promise<OutputStatus | undefined> {
  const row = await db.prepare(SELECT_OUTPUT).bind(outputId).first<Record<string, unknown>>();
  if (row === null) return undefined;
  return {
    outputId,
    bytes: fromBase64(String(row.bytes)),
    blockId: String(row.block),
    bookedIndex: Number(row.created),
    bookedTimestamp: Number(row.created_time),
    spent:
      row.spent === null
        ? undefined
        : {
            index: Number(row.spent),
            timestamp: Number(row.spent_time),
            transactionId: String(row.spent_tx),
          },
    ledgerIndex: Number(row.ledger),
  };
}
