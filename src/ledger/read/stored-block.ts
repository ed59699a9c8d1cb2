/**
 * A block by its ID, as long as its bytes are kept: one that a milestone references, with what
 * became of it, or an unreferenced one.
 */
import { blake2b256 } from '../../stardust/crypto/hash.ts';
import { LedgerDamaged } from '../core/checksum.ts';
import type { Database } from '../core/database.ts';
import { selectHead } from '../core/head.ts';
import { findReferenced } from '../core/id-index.ts';
import { readBatch } from '../core/read-batch.ts';
import { findVisible } from '../packs/live-packs.ts';
import { selectReferenced } from '../packs/referenced-blocks.ts';
import { readOutput } from './output-status.ts';

export interface StoredBlock {
  blockId: string;
  bytes: Uint8Array;
  /** Undefined while no milestone references it. */
  referenced: BlockReference | undefined;
  ledgerIndex: number;
}

export interface BlockReference {
  index: number;
  /** The block's place among those that the milestone references. */
  whiteFlagIndex: number;
  /** Conflict reason of a transaction, 0 if it was applied; undefined for other blocks. */
  reason: number | undefined;
}

/**
 * Returns undefined if the block is not known, null if there is no ledger, or a milestone references
 * it and its bytes are pruned. Throws a LedgerUnreadable if the ledger has another schema.
 */
export async function readBlock(
  db: Database,
  blockId: string,
): Promise<StoredBlock | null | undefined> {
  const { head, found, kept, unreferenced } = await readBatch(db, {
    head: selectHead(db),
    found: findReferenced(db, [blockId]),
    kept: selectReferenced(db, blockId),
    unreferenced: findVisible(db, [blockId], true),
  });
  const index = found[0]?.[1].milestone ?? null;
  const bytes = (index === null ? unreferenced[0] : kept)?.bytes;
  if (head === undefined || !bytes) return head && index === null ? undefined : null;
  requireBlockId(bytes, blockId);
  const block = { blockId, bytes, ledgerIndex: head.ledger };
  if (index === null) return { ...block, referenced: undefined };
  const { whiteFlagIndex, reason } = kept!;
  return { ...block, referenced: { index, whiteFlagIndex, reason } };
}

/**
 * Reads the block whose transaction, with this ID of 64 hex digits, was applied, by its first
 * output, as the reference does. Undefined if that was spent and is pruned, or the block is.
 */
export async function readIncludedBlock(
  db: Database,
  transactionId: string,
): Promise<StoredBlock | undefined> {
  const output = await readOutput(db, `${transactionId}0000`);
  return (output && (await readBlock(db, output.blockId))) ?? undefined;
}

/** Throws a LedgerDamaged unless the bytes are those of the block: its ID is their hash (B.1). */
export function requireBlockId(bytes: Uint8Array, blockId: string): void {
  if (blake2b256(bytes).toHex() !== blockId) throw new LedgerDamaged(`bytes of block 0x${blockId}`);
}
