/** Writes the head, and the milestones that it stands at, with their receipts. */
import { toBase64 } from '../../stardust/encoding/base64.ts';
import { encode } from '../../stardust/encoding/codec.ts';
import { type Milestone, receiptOf, receiptOption } from '../../stardust/wire/milestone.ts';
import { HeadDamaged, LedgerDamaged } from './checksum.ts';
import type { Database } from './database.ts';
import { runFenced } from './fence.ts';
import { type Head, type KnownMilestone, readHead, SCHEMA } from './head.ts';
import { write } from './read-batch.ts';
import { type Cell, type FingerprintMover, rowSum, SUMMED_COLUMNS } from './row-sum.ts';

function headCells(head: Head): Cell[] {
  return [
    SCHEMA,
    head.generation,
    head.genesis,
    head.start,
    head.snapshot,
    head.ledger,
    head.treasury.milestoneId,
    String(head.treasury.amount),
    head.nextBlock,
    head.nextOutput,
    head.unreferenced,
    head.dropped,
    JSON.stringify(head.idTables.map(({ table, first }) => [table, first])),
    head.forgotten,
    head.indexed,
    head.history,
    JSON.stringify(head.integrity),
  ];
}

const COLUMNS = SUMMED_COLUMNS.head.join(', ');

/** SQL of parameters for these columns, from the one with this number on. */
const parametersFrom = (first: number) => SUMMED_COLUMNS.head.map((_, i) => `?${first + i}`).join();

/** @param table head, or the staging table of an import */
export function insertHead(db: Database, head: Head, table = 'head'): D1PreparedStatement {
  const cells = headCells(head);
  return db
    .prepare(`INSERT INTO ${table} (sum, one, ${COLUMNS}) VALUES (?1, 1, ${parametersFrom(2)})`)
    .bind(rowSum(cells), ...cells);
}

/** The sum must not be NULL. */
const MOVE_HEAD = `
  UPDATE head SET (${COLUMNS}) = (${parametersFrom(2)}),
    sum = CASE WHEN (${COLUMNS}) = (${parametersFrom(2 + SUMMED_COLUMNS.head.length)}) THEN ?1 END`;

/**
 * Changes the head. Fails unless all of it still is `before`: of another follower's fingerprints,
 * or the damage that it noted, nothing may be lost.
 */
export function moveHead(db: Database, before: Head, changes: Partial<Head>): D1PreparedStatement {
  const cells = headCells({ ...before, ...changes });
  return db.prepare(MOVE_HEAD).bind(rowSum(cells), ...cells, ...headCells(before));
}

/** Whether it is noted: an import may have replaced a damaged head since. */
const isNoted = (error: unknown): error is LedgerDamaged =>
  error instanceof LedgerDamaged && !(error instanceof HeadDamaged);

/** Looks once more where damage is found: what is whole on the disk may have come wrong once. */
export const lookTwice = <T>(look: () => Promise<T>): Promise<T> =>
  look().catch((error: unknown) => {
    if (!isNoted(error)) throw error;
    return look();
  });

/**
 * Runs work on the ledger. Damage that it finds is noted in the head, so that all readers throw it
 * from then on. Throws a LedgerMoved if the head has moved: then what was read was of two states.
 *
 * @param about the head that the work is about, or its generation: an import may have come since
 */
export async function notingDamage<T>(
  db: Database,
  about: Head | { generation: string | undefined },
  work: () => Promise<T>,
) {
  try {
    return await work();
  } catch (error) {
    if (!isNoted(error)) throw error;
    const head = 'integrity' in about ? about : await readHead(db);
    if (head === undefined || head.generation !== (about.generation ?? head.generation))
      throw error;
    const integrity = { ...head.integrity, damaged: error.what };
    await runFenced(db, { writes: write([moveHead(db, head, { integrity })]) });
    throw error;
  }
}

export interface MilestoneToInsert extends KnownMilestone {
  index: number;
  /** Text by writeOutputBytes (output-bytes.ts). */
  payload: string | null;
}

/** @param table milestone, or the staging table of an import */
export function insertMilestone(
  db: Database,
  { index, id, timestamp, blocks, payload, nftChanges }: MilestoneToInsert,
  table = 'milestone',
): D1PreparedStatement {
  const cells = [index, id, timestamp, blocks, nftChanges];
  return db
    .prepare(
      `INSERT INTO ${table} (idx, id, timestamp, blocks, nft_changes, sum, payload)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`,
    )
    .bind(...cells, rowSum(cells), payload);
}

const INSERT_RECEIPT =
  'INSERT INTO receipt (migrated_at, milestone, bytes, sum) VALUES (?1, ?2, ?3, ?4)';

/** The statement that keeps the milestone's receipt, if it has one. */
export function insertReceipt(
  db: Database,
  fingerprints: FingerprintMover,
  milestone: Milestone,
): D1PreparedStatement[] {
  const receipt = receiptOf(milestone);
  if (receipt === undefined) return [];
  const bytes = toBase64(encode(receiptOption, receipt));
  const cells = [receipt.migratedAt, milestone.index, bytes];
  const sum = rowSum(cells);
  fingerprints.move('receipt', '', sum);
  return [db.prepare(INSERT_RECEIPT).bind(...cells, sum)];
}
