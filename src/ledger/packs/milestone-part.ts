/** A part of a milestone: the numbers of its blocks, and its spent outputs (docs/storage.md). */
import { fromBase64, toBase64 } from '../../stardust/encoding/base64.ts';
import { getUint56, setUint56, UINT56_BYTES } from '../../stardust/encoding/bytes.ts';
import { requireRowSum } from '../core/row-sum.ts';

/** Parts that a milestone may have: `milestone_part.key` is its index times this, plus the part. */
export const PARTS = 4096;

/** SQL that is true of the key of a part of this milestone. */
export const isPartOf = (key: string, milestone: string): string =>
  `${key} >= ${milestone} * ${PARTS} AND ${key} < (${milestone} + 1) * ${PARTS}`;

/** SQL of the keys of the packs that hold the milestone's blocks. */
export function selectKeys(milestone: string): string {
  return `
    SELECT k.value FROM milestone_part m CROSS JOIN json_each(m.packs) k
    WHERE ${isPartOf('m.key', milestone)}`;
}

/** Block numbers, one after another, in base64. */
export function writeNumbers(numbers: ArrayLike<number>): string {
  const bytes = new Uint8Array(numbers.length * UINT56_BYTES);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < numbers.length; i++) setUint56(view, i * UINT56_BYTES, numbers[i]!);
  return toBase64(bytes);
}

export function readNumbers(text: string): number[] {
  const bytes = fromBase64(text);
  const view = new DataView(bytes.buffer);
  const count = bytes.length / UINT56_BYTES;
  return Array.from({ length: count }, (_, i) => getUint56(view, i * UINT56_BYTES));
}

/** An output that a milestone spent, as its part has it. IDs are hex. */
export interface SpentOutput {
  id: string;
  /** Text of output-bytes.ts. */
  bytes: string;
  chain: string | null;
  block: string;
  created: number;
  createdTime: number;
  transaction: string;
}

/**
 * The stored form. The transaction is named by an output that it created. Long contents are in two
 * rows until the milestone is pruned: `bytes` has the start, `rest` the key in output_rest. Rows of
 * earlier versions have them whole.
 */
export type SpentRow = [
  id: string,
  bytes: string,
  chain: string | null,
  block: string,
  created: number,
  createdTime: number,
  made: string,
  sum: number,
  rest?: number | null,
];

const restOf = (column: string, row: string) =>
  `(SELECT ${column} FROM output_rest r WHERE r.key = ${row} ->> 8)`;

/** SQL of the fields of a {@link SpentRow}, and of what is read of it. */
export const spentSql = {
  id: (row: string) => `(${row} ->> 0)`,
  /** The start at least, which tells the type. */
  start: (row: string) => `(${row} ->> 1)`,
  rest: (row: string) => `(${row} ->> 8)`,
  /** The row with its whole contents: none, which no reader takes, where the rest is missing. */
  whole: (row: string) =>
    `iif(${row} ->> 8 IS NULL, ${row}, json_replace(${row}, '$[1]', (${row} ->> 1) || ${restOf('r.bytes', row)}))`,
  /** Characters of its contents. */
  length: (row: string) =>
    `(octet_length(${row} ->> 1) + coalesce(${restOf('octet_length(r.bytes)', row)}, 0))`,
  withoutBytes: (row: string) => `json_replace(${row}, '$[1]', '')`,
  chain: (row: string) => `(${row} ->> 2)`,
  created: (row: string) => `(${row} ->> 4)`,
  createdTime: (row: string) => `(${row} ->> 5)`,
  made: (row: string) => `(${row} ->> 6)`,
};

/** SQL of the outputs that this milestone spent, each as `s.value`, in parts `p`. */
export function spentIn(milestone: string, from = ''): string {
  return `${from} milestone_part p CROSS JOIN json_each(p.spent) s
    WHERE ${isPartOf('p.key', milestone)}`;
}

/** Hex digits of a transaction's ID, with which those of its outputs begin. */
export const TRANSACTION_ID_DIGITS = 64;

/** Throws a LedgerDamaged if the sum is wrong. Queries need the ID first (known-outputs.ts). */
export function readSpentOutput(row: SpentRow): SpentOutput {
  const [id, bytes, chain, block, created, createdTime, made, sum] = row;
  requireRowSum([id, chain, block, created, createdTime, made], sum, 'outputs that were spent');
  const transaction = made.slice(0, TRANSACTION_ID_DIGITS);
  return { id, bytes, chain, block, created, createdTime, transaction };
}
