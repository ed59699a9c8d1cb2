/**
 * Sums of rows, and fingerprints of tables (docs/storage.md#damage-on-disk). A row has in its
 * column `sum` the sum of its other columns, which its parser compares; values are added up, so SQL
 * that makes a row of others can make its sum of theirs. A table's fingerprint, the sum of its
 * rows' sums, tells that a row vanished.
 */
import { checksum, LedgerDamaged } from './checksum.ts';

export type Cell = string | number | null;

export const SUMMED_COLUMNS = {
  head: [
    'schema',
    'generation',
    'genesis',
    'start',
    'snapshot',
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
    'history',
    'integrity',
  ],
  // the payload has a checksum of its own
  milestone: ['idx', 'id', 'timestamp', 'blocks', 'nft_changes'],
  // each output that was spent has a sum of its own
  milestone_part: ['key', 'packs', 'blocks'],
  // the contents have a sum of their own
  output: ['id', 'chain', 'block', 'created', 'created_time'],
  parameters: ['target', 'bytes'],
  receipt: ['migrated_at', 'milestone', 'bytes'],
  id: ['milestone', 'block'],
  nft_past: [
    'id',
    'output',
    'conditions',
    'block',
    'created',
    'created_time',
    'spender',
    'burned_block',
    'burned_time',
  ],
  nft_index: ['token', 'generation', 'state'],
  // the ranges lead to the root, which a proof is checked against
  final_page: ['milestone', 'tree', 'page', 'first', 'last', 'leaves', 'amount', 'nfts', 'root'],
} as const satisfies Record<string, readonly string[]>;

export type SummedTable = keyof typeof SUMMED_COLUMNS;

/** Hex digits of a word: several can be added up without rounding. */
const WORD = 10;

/** Block numbers have up to 53 bits: of a number, the lower 32 are added. */
const NUMBER_MODULUS = 2 ** 32;

/** The values of characters that are hex digits, by their codes. */
const NO_DIGIT = 16;
const HEX_DIGITS = new Uint8Array(128).fill(NO_DIGIT);
for (let digit = 0; digit < NO_DIGIT; digit++)
  HEX_DIGITS[digit.toString(NO_DIGIT).charCodeAt(0)] = digit;

/** Sum of an ID's words, or a checksum of another text, and the length: zeros do not count. */
function cellSum(value: Cell): number {
  if (value === null) return 0;
  if (typeof value === 'number') return value % NUMBER_MODULUS;
  // a BLOB, which is no sum's
  if (typeof value !== 'string') return Number.NaN;
  const sum = sumWords(value) ?? checksum(new TextEncoder().encode(value)) % 2 ** 32;
  return sum + value.length;
}

/** Returns undefined for other characters than hex digits. No slices: milestones have many IDs. */
function sumWords(text: string): number | undefined {
  let sum = 0;
  for (let at = 0; at < text.length; ) {
    let word = 0;
    for (const end = Math.min(at + WORD, text.length); at < end; at++) {
      const digit = HEX_DIGITS[text.charCodeAt(at)] ?? NO_DIGIT;
      if (digit === NO_DIGIT) return undefined;
      word = 16 * word + digit;
    }
    sum += word;
  }
  return sum;
}

export const rowSum = (cells: readonly Cell[]): number =>
  cells.reduce<number>((sum, cell) => sum + cellSum(cell), 0);

/**
 * Throws a LedgerDamaged unless this is the sum of the cells.
 *
 * @param what in the plural, for the message
 */
export function requireRowSum(cells: readonly Cell[], sum: unknown, what: string): void {
  if (rowSum(cells) !== sum) throw new LedgerDamaged(what);
}

/** SQL of the sum of a number of a block or an output. Milestones and times are their own sums. */
export const numberSumSql = (number: string): string => `(${number}) % ${NUMBER_MODULUS}`;

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

/** Position of the scrub (write/scrub.ts). */
export interface ScrubPosition {
  table: string;
  /** ID of the last row that was read. */
  after: string;
  /** Sum of the sums of the rows up to that ID: milestones that add or remove such rows move it. */
  sum: number;
}

/** Where the scrub of a table begins. */
export const startOf = (table: string): ScrubPosition => ({ table, after: '', sum: 0 });

export interface Integrity {
  /**
   * Fingerprints of `output`, `nft_past`, the tables of the index of IDs in use, `parameters` and
   * `receipt`.
   */
  fingerprints: Readonly<Record<string, number>>;
  /**
   * The ledger index that the last two are of. Another one than the ledger's: a version that does
   * not know them has applied milestones since; the next round takes them anew.
   */
  smallAt?: number | undefined;
  /** Absent before the first step of a scrub. */
  scrub?: ScrubPosition;
  /** Damage that a scrub found, in the plural as for LedgerDamaged. */
  damaged?: string;
}

/** Fingerprints are below 2^52, so that two of them can be added up without rounding. */
const FINGERPRINT_MODULUS = 2 ** 52;

/** Adds sums of rows or fingerprints, which may be negative, to a fingerprint. */
export function addSums(...sums: readonly number[]): number {
  const modulus = FINGERPRINT_MODULUS;
  return sums.reduce((total, sum) => (((total + sum) % modulus) + modulus) % modulus, 0);
}

/** SQL of the fingerprint of up to 500,000 rows, NULL for none. `sum`: SQL of a row's sum. */
export const fingerprintSql = (sum: string): string => `sum(${sum}) % ${FINGERPRINT_MODULUS}`;

/** Moves fingerprints by rows that come and go. */
export interface FingerprintMover {
  /** @param sum of the row, negative where it goes */
  move(table: string, id: string, sum: number): void;
  moved(): Integrity;
}

export function moveFingerprints(before: Integrity): FingerprintMover {
  const fingerprints = { ...before.fingerprints };
  const scrub = before.scrub && { ...before.scrub };
  return {
    move(table, id, sum) {
      if (fingerprints[table] === undefined) return;
      fingerprints[table] = addSums(fingerprints[table], sum);
      if (scrub?.table === table && id <= scrub.after) scrub.sum = addSums(scrub.sum, sum);
    },
    moved: () => ({ ...before, fingerprints, ...(scrub && { scrub }) }),
  };
}
