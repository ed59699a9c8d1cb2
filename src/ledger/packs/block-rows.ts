/** IDs of a pack's blocks, which no walk reads (docs/storage.md#packs). */
import { numberSumSql, requireRowSum, rowSum } from '../core/row-sum.ts';

/** Number, hex ID, payload type (docs/protocol.md, A.1; 0: none) of a pack's block; their sum. */
export type BlockRow = [number: number, id: string, payload: number, sum: number];

export function writeBlockRow(number: number, id: string, payload: number): BlockRow {
  return [number, id, payload, rowSum([number, id, payload])];
}

/** SQL of the fields of a {@link BlockRow}. `numberIdSum`, `idSum`: the sum of these fields alone. */
export const blockSql = {
  number: (row: string) => `(${row} ->> 0)`,
  id: (row: string) => `(${row} ->> 1)`,
  numberIdSum: (row: string) => `((${row} ->> 3) - (${row} ->> 2))`,
  idSum: (row: string) => `((${row} ->> 3) - (${row} ->> 2) - ${numberSumSql(`${row} ->> 0`)})`,
};

/** Throws a LedgerDamaged where a sum is not right. */
export function readBlockRows(text: string): BlockRow[] {
  const rows: BlockRow[] = JSON.parse(text);
  for (const [number, id, payload, sum] of rows)
    requireRowSum([number, id, payload], sum, 'IDs of blocks');
  return rows;
}
