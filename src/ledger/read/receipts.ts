/** The treasury, and the receipts that were paid out of it by milestones that were applied here. */
import { fromBase64, toBase64 } from '../../stardust/encoding/base64.ts';
import { Reader } from '../../stardust/encoding/bytes.ts';
import { decode, encode } from '../../stardust/encoding/codec.ts';
import {
  type Milestone,
  type ReceiptOption,
  receiptOf,
  receiptOption,
} from '../../stardust/wire/milestone.ts';
import type { Database } from '../core/database.ts';
import { type HeadTreasury, readHead, selectHead } from '../core/head.ts';
import { many, type Row, readBatch } from '../core/read-batch.ts';
import { rowSum } from '../core/row-sum.ts';

export interface StoredReceipts {
  /** Receipts by the legacy network's milestone, then by ours. */
  receipts: { receipt: ReceiptOption; milestoneIndex: number }[];
  ledgerIndex: number;
}

export interface TreasuryStatus extends HeadTreasury {
  ledgerIndex: number;
}

const INSERT_RECEIPT =
  'INSERT INTO receipt (migrated_at, milestone, bytes, sum) VALUES (?1, ?2, ?3, ?4)';

/** The statement that keeps the milestone's receipt, if it has one. */
export function insertReceipt(db: Database, milestone: Milestone): D1PreparedStatement[] {
  const receipt = receiptOf(milestone);
  if (receipt === undefined) return [];
  const bytes = toBase64(encode(receiptOption, receipt));
  const cells = [receipt.migratedAt, milestone.index, bytes];
  return [db.prepare(INSERT_RECEIPT).bind(...cells, rowSum(cells))];
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
