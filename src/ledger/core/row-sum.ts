/**
 * Sums of small rows (docs/storage.md#damage-on-disk): a row has in its column `sum` the sum of its
 * other columns, which its parser compares. The values are added up, so SQL that makes a row of
 * others can make its sum of theirs.
 */
import { checksum } from './checksum.ts';

/** A value of a column. */
export type Cell = string | number | null;

/** What lists of every kind filter by, in the order of both tables. */
const FILTERED_COLUMNS = [
  'sender',
  'tag',
  'deposit_return',
  'expiration_return',
  'expiration',
  'timelock',
  'native_tokens',
] as const;

/** The columns that the sum of a row is about, by table. */
export const SUMMED_COLUMNS = {
  head: [
    'schema',
    'generation',
    'genesis',
    'start',
    'ledger',
    'treasury_milestone',
    'treasury_amount',
    'next_block',
    'next_output',
    'unreferenced',
    'dropped',
    'id_tables',
    'forgotten',
    'indexed',
  ],
  // the payload has a checksum of its own
  milestone: ['idx', 'id', 'timestamp', 'blocks'],
  // each output that was spent has a sum of its own
  milestone_part: ['key', 'packs', 'blocks'],
  // the contents have a sum of their own
  output: ['id', 'block', 'created', 'created_time'],
  nft: ['id', 'output', 'changed'],
  nft_change: ['milestone', 'part', 'nfts'],
  nft_detail: ['created_time', 'output', 'address', 'issuer', ...FILTERED_COLUMNS],
  output_detail: [
    'created_time',
    'output',
    'kind',
    'address',
    'governor',
    'issuer',
    ...FILTERED_COLUMNS,
    'chain',
  ],
  parameters: ['target', 'bytes'],
  receipt: ['migrated_at', 'milestone', 'bytes'],
  id: ['milestone', 'block'],
  follower: ['upstream_index', 'upstream_timestamp', 'upstream_id'],
  nft_index: ['token', 'generation', 'state'],
  // the ranges lead to the root, which a proof is checked against
  final_page: ['milestone', 'tree', 'page', 'first', 'last', 'leaves', 'amount', 'nfts', 'root'],
  final_root: ['milestone', 'outputs', 'output_root', 'nfts', 'nft_root', 'root'],
  snapshot_file: ['sha256'],
} as const satisfies Record<string, readonly string[]>;

export type SummedTable = keyof typeof SUMMED_COLUMNS;

/** Hex digits of a word: several can be added up without rounding. */
const WORD = 10;

/** Block numbers have up to 53 bits: of a number, the lower 32 are added. */
const NUMBER_MODULUS = 2 ** 32;

/** Of an ID, the sum of its words; of another text, a checksum of 32 bits. */
function cellSum(value: Cell): number {
  if (value === null) return 0;
  if (typeof value === 'number') return value % NUMBER_MODULUS;
  if (!/^[0-9a-f]*$/.test(value)) return checksum(new TextEncoder().encode(value)) % 2 ** 32;
  let sum = 0;
  for (let at = 0; at < value.length; at += WORD)
    sum += Number.parseInt(value.slice(at, at + WORD), 16);
  return sum;
}

export function rowSum(cells: readonly Cell[]): number {
  return cells.reduce<number>((sum, cell) => sum + cellSum(cell), 0);
}

/** SQL of the sum of a number of a block or an output. Milestones and times are their own sums. */
export function numberSumSql(number: string): string {
  return `(${number}) % ${NUMBER_MODULUS}`;
}

/** SQL of the sum of a column with IDs of at most 70 digits. */
export function idSumSql(column: string): string {
  const words = Array.from(
    { length: 7 },
    (_, i) =>
      `coalesce(('0x' || nullif(substr(${column}, ${i * WORD + 1}, ${WORD}), '')) ->> '$', 0)`,
  );
  return `(${words.join(' + ')})`;
}

/**
 * SQL of the columns that {@link SUMMED_COLUMNS} names, and of the sum.
 *
 * @param prefix of their names in the row
 */
export function summedColumns(table: SummedTable, alias: string, prefix = ''): string {
  return [...SUMMED_COLUMNS[table], 'sum']
    .map((column) => `${alias}.${column} AS ${prefix}${column}`)
    .join(', ');
}
