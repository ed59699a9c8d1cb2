/**
 * IDs of a pack's blocks, and of the outputs that they consume and create, which no walk reads
 * (docs/storage.md#packs).
 */
import { numberSumSql, requireRowSum, rowSum } from '../core/row-sum.ts';

/** Number, hex ID, payload type (docs/protocol.md, A.1; 0: none) of a pack's block; their sum. */
export type BlockRow = [number: number, id: string, payload: number, sum: number];

export const writeBlockRow = (number: number, id: string, payload: number): BlockRow => [
  number,
  id,
  payload,
  rowSum([number, id, payload]),
];

/** SQL of the fields of a {@link BlockRow}. `idSum`: the sum of the ID alone. */
export const blockSql = {
  number: (row: string) => `(${row} ->> 0)`,
  id: (row: string) => `(${row} ->> 1)`,
  idSum: (row: string) => `((${row} ->> 3) - (${row} ->> 2) - ${numberSumSql(`${row} ->> 0`)})`,
};

/** Throws a LedgerDamaged where a sum is not right. */
export function readBlockRows(text: string): BlockRow[] {
  const rows: BlockRow[] = JSON.parse(text);
  for (const [number, id, payload, sum] of rows)
    requireRowSum([number, id, payload], sum, 'IDs of blocks');
  return rows;
}

/**
 * An output that a block's transaction consumes or creates, in the order of its inputs and then its
 * outputs. `sum` is that of number and ID. One that is created has the chain's ID in hex, or null,
 * and the sum of that as well; what it contains has the same place in `pack_content`.
 */
export type OutputRow = [
  number: number,
  id: string,
  sum: number,
  chain?: string | null,
  chainSum?: number,
];

export const writeOutputRow = (number: number, id: string): OutputRow => [
  number,
  id,
  rowSum([number, id]),
];

/** @param chain null for an output without one */
export const writeCreatedRow = (number: number, id: string, chain: string | null): OutputRow => [
  number,
  id,
  rowSum([number, id]),
  chain,
  rowSum([chain]),
];

/** SQL of the fields of an {@link OutputRow}. `idSum`: the sum of the ID alone. */
export const outputSql = {
  number: (row: string) => `(${row} ->> 0)`,
  id: (row: string) => `(${row} ->> 1)`,
  sum: (row: string) => `(${row} ->> 2)`,
  idSum: (row: string) => `((${row} ->> 2) - ${numberSumSql(`${row} ->> 0`)})`,
  chain: (row: string) => `(${row} ->> 3)`,
  chainSum: (row: string) => `(${row} ->> 4)`,
  isCreated: (row: string) => `(${row} -> 3 IS NOT NULL)`,
};

/** Throws a LedgerDamaged unless the sum of number and ID is right. */
export function requireOutputSum(number: number, id: string, sum: number): void {
  requireRowSum([number, id], sum, 'IDs of outputs');
}

/** Throws a LedgerDamaged unless the sum of a chain is right. */
export function requireChainSum(chain: string | null, sum: number): void {
  requireRowSum([chain], sum, 'chains of outputs');
}
