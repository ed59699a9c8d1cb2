/**
 * Codec of an output's contents in D1, from the block that creates it to the milestone that spends
 * it: base64 of the bytes and a checksum, by which readers find damage. Long contents are in two
 * rows: `output` has the start, `output_rest` the rest, until the milestone that spends the output
 * is pruned: it moves the row alone. SQLite keeps at most 1,002 bytes of a row on a page of the
 * table's tree (https://www.sqlite.org/fileformat2.html#payload); more is read at each comparison.
 */
import { fromBase64, toBase64 } from '../../stardust/encoding/base64.ts';
import { concatBytes, getUint56, setUint56, UINT56_BYTES } from '../../stardust/encoding/bytes.ts';
import { checksum, LedgerDamaged } from './checksum.ts';
import type { Database } from './database.ts';
import { one, type Row, readAlone } from './read-batch.ts';
import { summedColumns } from './row-sum.ts';

/** Initial checksum: that of no bytes is not zero. */
const NOT_EMPTY = 1;

export function writeOutputBytes(bytes: Uint8Array): string {
  const sum = new Uint8Array(UINT56_BYTES);
  setUint56(new DataView(sum.buffer), 0, checksum(bytes, NOT_EMPTY));
  return toBase64(concatBytes(bytes, sum));
}

/** Characters: the other columns have up to 230. */
const LONGEST_IN_ROW = 768;

/** Characters of the start of long contents: type and amount, the first 9 bytes (A.8). */
const START = 12;

/**
 * Keys in `output_rest`: `step` times the number of the output, behind the keys of earlier versions.
 * Two differ by a multiple of a prime, so no changed byte makes one that of another.
 */
export const REST_KEYS = { from: 2 ** 40, step: 257 };

/**
 * Splits contents, of which only long ones have a rest.
 *
 * @param text from {@link writeOutputBytes}
 */
export function splitContents(text: string): { start: string; rest: string | undefined } {
  return text.length > LONGEST_IN_ROW
    ? { start: text.slice(0, START), rest: text.slice(START) }
    : { start: text, rest: undefined };
}

/** SQL of the start, of the rest, and of whether there is one, as {@link splitContents} splits. */
export function splitContentsSql(text: string) {
  const isLong = `length(${text}) > ${LONGEST_IN_ROW}`;
  return {
    start: `CASE WHEN ${isLong} THEN substr(${text}, 1, ${START}) ELSE ${text} END`,
    rest: `substr(${text}, ${START + 1})`,
    isLong,
  };
}

export function contentsLengthSql(output: string): string {
  const rest = `SELECT octet_length(r.bytes) FROM output_rest r WHERE r.key = ${output}.rest`;
  return `octet_length(${output}.bytes) + coalesce((${rest}), 0) AS length`;
}

/** Characters of the contents that one step reads: each may have 29,000. */
const MAX_STEP_LENGTH = 8_000_000;

const COUNT_NEXT = `
  SELECT iif(max(total) > ${MAX_STEP_LENGTH}, max(1, sum(total <= ${MAX_STEP_LENGTH})), ?2) AS count FROM (
    SELECT sum(length) OVER (ORDER BY id) AS total FROM (
      SELECT o.id, ${contentsLengthSql('o')} FROM output o WHERE o.id > ?1 ORDER BY o.id LIMIT ?2))`;

/** How many of the outputs behind this ID one step reads: as many, or fewer if they are long. */
export async function countNext(db: Database, after: string, most: number): Promise<number> {
  return readAlone(one(db.prepare(COUNT_NEXT).bind(after, most), (row) => row.integer('count')));
}

/**
 * SQL of the columns of an output for readers, with its whole contents as `bytes`: NULL, which no
 * reader and no table takes, if the rest is missing.
 *
 * @param output alias of its table
 * @param prefix of the names of the others
 * @param rests the table of rests
 */
export function outputColumns(
  output: string,
  { prefix = '', rests = 'output_rest' }: { prefix?: string; rests?: string } = {},
): string {
  const rest = `SELECT r.bytes FROM ${rests} r WHERE r.key = ${output}.rest`;
  const whole = `CASE WHEN ${output}.rest IS NULL THEN ${output}.bytes ELSE ${output}.bytes || (${rest}) END`;
  return `${summedColumns('output', output, prefix)}, ${whole} AS bytes`;
}

/**
 * SQL that is true of the contents of NFTs. The first byte is the output's type (A.8), which the
 * first two characters of base64 tell: type 6 is `Bg` to `Bv`.
 */
export const isNftSql = (column: string): string => `substr(${column}, 1, 2) BETWEEN 'Bg' AND 'Bv'`;

/** SQL of the type in the contents of an output: basic begins with `A`, alias with `BA` to `BP`. */
export function outputTypeSql(column: string): string {
  const start = `substr(${column}, 1, 2)`;
  return `CASE WHEN ${start} < 'B' THEN 3 WHEN ${start} < 'BQ' THEN 4 WHEN ${start} < 'Bg' THEN 5 ELSE 6 END`;
}

/** Throws a LedgerDamaged where the bytes are not those that were written. */
export function readOutputBytes(text: string, outputId: string): Uint8Array {
  try {
    const stored = fromBase64(text);
    const end = stored.length - UINT56_BYTES;
    const bytes = stored.subarray(0, end);
    const sum = getUint56(new DataView(stored.buffer), end);
    if (sum === checksum(bytes, NOT_EMPTY)) return bytes;
  } catch {
    // not base64 any more, too short, or a checksum above 2^53: damaged too
  }
  throw new LedgerDamaged(`contents of output 0x${outputId}`);
}

/** A row of `output`. IDs are hex. */
export interface UnspentOutput {
  id: string;
  bytes: Uint8Array;
  /** The block that created it, all zero for migrated outputs. */
  block: string;
  created: number;
  createdTime: number;
}

/**
 * @param row its {@link outputColumns}. Throws a LedgerDamaged where they are not what was written.
 */
export function unspentFromRow(row: Row, prefix = ''): UnspentOutput {
  row.requireSum('output', prefix);
  const id = row.text(`${prefix}id`);
  return {
    id,
    bytes: readOutputBytes(row.text('bytes'), id),
    block: row.text(`${prefix}block`),
    created: row.integer(`${prefix}created`),
    createdTime: row.integer(`${prefix}created_time`),
  };
}
