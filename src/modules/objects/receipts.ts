/** The treasury, and the receipts that were paid out of it by milestones that were applied here. */
import type { Database } from '../../ledger/core/database.ts';
import { type HeadTreasury, readHead, selectHead } from '../../ledger/core/head.ts';
import { many, type Row, readBatch } from '../../ledger/core/read-batch.ts';
import { fromBase64 } from '../../stardust/encoding/base64.ts';
import { Reader } from '../../stardust/encoding/bytes.ts';
import { decode } from '../../stardust/encoding/codec.ts';
import { type ReceiptOption, receiptOption } from '../../stardust/wire/milestone.ts';

export interface StoredReceipts {
  /** Receipts by the legacy network's milestone, then by ours. */
  receipts: { receipt: ReceiptOption; milestoneIndex: number }[];
  ledgerIndex: number;
}

export interface TreasuryStatus extends HeadTreasury {
  ledgerIndex: number;
}

const SELECT_RECEIPTS = `
  SELECT * FROM receipt WHERE ?1 IS NULL OR migrated_at = ?1
  ORDER BY migrated_at, milestone`;

/**
 * Returns undefined if nothing was imported.
 *
 * @param migratedAt of the legacy network's milestone; absent: all of them
 */
export async function readReceipts(
  db: Database,
  migratedAt?: number,
): Promise<StoredReceipts | undefined> {
  const { head, receipts } = await readBatch(db, {
    head: selectHead(db),
    receipts: many(db.prepare(SELECT_RECEIPTS).bind(migratedAt ?? null), receiptFromRow),
  });
  return head && { receipts, ledgerIndex: head.ledger };
}

function receiptFromRow(row: Row): { receipt: ReceiptOption; milestoneIndex: number } {
  row.requireSum('receipt');
  const receipt = decode(receiptOption, new Reader(fromBase64(row.text('bytes'))));
  return { receipt, milestoneIndex: row.integer('milestone') };
}

/** Undefined where nothing was imported. */
export async function readTreasury(db: Database): Promise<TreasuryStatus | undefined> {
  const head = await readHead(db);
  return head && { ...head.treasury, ledgerIndex: head.ledger };
}
