/**
 * The IDs of a pack's blocks and of the outputs that they consume and create, which no walk reads
 * (docs/storage.md#packs).
 */
import { LedgerDamaged } from '../checksum.ts';
import { rowSum } from '../row-sum.ts';

/**
 * Number, hex ID and payload type (docs/protocol.md, A.1; 0 for none) of a block of a pack, and
 * their sum.
 */
export type BlockRow = [number: number, id: string, payload: number, sum: number];

export function writeBlockRow(number: number, id: string, payload: number): BlockRow {
  return [number, id, payload, rowSum([number, id, payload])];
}

/** Throws a LedgerDamaged where a sum is not right. */
export function readBlockRows(text: string): BlockRow[] {
  const rows: BlockRow[] = JSON.parse(text);
  for (const [number, id, payload, sum] of rows)
    if (rowSum([number, id, payload]) !== sum) throw new LedgerDamaged('IDs of blocks');
  return rows;
}

/**
 * An output that a block's transaction consumes or creates, in the order of its inputs and then its
 * outputs. `sum` is that of number and ID. One that is created has the chain's ID in hex, or null,
 * as well; what it contains has the same place in `pack_content`.
 */
export type OutputRow = [number: number, id: string, sum: number, chain?: string | null];

export function writeOutputRow(number: number, id: string): OutputRow {
  return [number, id, rowSum([number, id])];
}

/** @param chain null for an output without one */
export function writeCreatedRow(number: number, id: string, chain: string | null): OutputRow {
  return [number, id, rowSum([number, id]), chain];
}

/** Throws a LedgerDamaged unless the sum of a row of {@link OutputRow} is right. */
export function requireOutputSum(number: number, id: string, sum: number): void {
  if (rowSum([number, id]) !== sum) throw new LedgerDamaged('IDs of outputs');
}
