/**
 * A block by its ID, as long as its bytes are kept: one that a milestone references, with what
 * became of it, or an open one.
 */
import { fromBase64 } from '../stardust/bytes.ts';
import type { ConflictReason } from '../stardust/semantics/conflict-reason.ts';
import { type Database, runBatch } from './database.ts';
import { selectIds } from './id-index.ts';
import { readOutput } from './output-status.ts';
import { PARTS, readPackedBlocks } from './packs.ts';
import { requireSchemaOf } from './schema.ts';

export interface StoredBlock {
  /** 64 hex digits. */
  blockId: string;
  bytes: Uint8Array;
  /** Whether its whole past cone is known here. */
  isSolid: boolean;
  /** Undefined while no milestone references it. */
  referenced: BlockReference | undefined;
  /** The ledger index at which all this is true. */
  ledgerIndex: number;
}

export interface BlockReference {
  /** Of the milestone. */
  index: number;
  /** The block's place among those that the milestone references. */
  whiteFlagIndex: number;
  /** Of a transaction: 0 where it was applied. Undefined for the other blocks. */
  reason: ConflictReason | undefined;
}

const SELECT_LEDGER = 'SELECT schema, ledger FROM head';

/** The packs of the milestone that references the block ?1, and its bytes in one of them. */
const SELECT_REFERENCED = `
  SELECT f.milestone, p.blocks, (
    SELECT p.bytes ->> ('$[' || b.key || ']') FROM json_each(p.blocks) b WHERE b.value ->> 0 = ?1
  ) AS bytes
  FROM (${selectIds('json_array(?1)')}) f
    CROSS JOIN pack p ON p.key >= f.milestone * ${PARTS} AND p.key < (f.milestone + 1) * ${PARTS}
  ORDER BY p.key`;

/** The bytes of the open block ?1; packs that do not name it are not taken apart. */
const SELECT_OPEN = `
  SELECT o.bytes ->> ('$[' || b.key || ']') AS bytes FROM open o CROSS JOIN json_each(o.blocks) b
  WHERE instr(o.blocks, '"' || ?1 || '"') > 0 AND b.value ->> 1 = ?1`;

/**
 * Undefined if the block is not known, or its bytes are pruned. Throws a LedgerUnreadable if the
 * ledger has another schema.
 */
export async function readBlock(db: Database, blockId: string): Promise<StoredBlock | undefined> {
  const [heads, packs, open] = await runBatch(db, [
    db.prepare(SELECT_LEDGER),
    db.prepare(SELECT_REFERENCED).bind(blockId),
    db.prepare(SELECT_OPEN).bind(blockId),
  ]);
  requireSchemaOf(heads);
  const ledgerIndex = Number(heads![0]?.ledger);
  const row = packs!.find(({ bytes }) => bytes !== null);
  if (row !== undefined) {
    const blocks = packs!.flatMap((pack) => readPackedBlocks(String(pack.blocks)));
    const whiteFlagIndex = blocks.findIndex(({ id }) => id === blockId);
    const reason = blocks[whiteFlagIndex]!.reason as ConflictReason | undefined;
    const referenced = { index: Number(row.milestone), whiteFlagIndex, reason };
    const bytes = fromBase64(String(row.bytes));
    return { blockId, bytes, isSolid: true, referenced, ledgerIndex };
  }
  const found = open![0];
  if (found === undefined) return undefined;
  return {
    blockId,
    bytes: fromBase64(String(found.bytes)),
    isSolid: true,
    referenced: undefined,
    ledgerIndex,
  };
}

/**
 * The block whose transaction, with this ID of 64 hex digits, was applied. As in the reference, the
 * ledger knows it by the transaction's first output. Undefined where that was spent and is pruned,
 * or the block is.
 */
export async function readIncludedBlock(
  db: Database,
  transactionId: string,
): Promise<StoredBlock | undefined> {
  const output = await readOutput(db, `${transactionId}0000`);
  return output && readBlock(db, output.blockId);
}
