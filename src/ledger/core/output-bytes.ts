/**
 * Codec of an output's contents as D1 holds them, from the block that creates it to the milestone
 * that spends it: base64 of the bytes and a checksum. Within D1 they move as they are; whoever
 * reads them finds out whether a bit was flipped on disk.
 */
import {
  concatBytes,
  fromBase64,
  getUint56,
  setUint56,
  toBase64,
  UINT56_BYTES,
} from '../../stardust/encoding/bytes.ts';
import { checksum, LedgerDamaged } from './checksum.ts';

/** From the length on, as zeros do not count by themselves. */
const sumOf = (bytes: Uint8Array) => checksum(bytes, bytes.length + 1);

export function writeOutputBytes(bytes: Uint8Array): string {
  const sum = new Uint8Array(UINT56_BYTES);
  setUint56(new DataView(sum.buffer), 0, sumOf(bytes));
  return toBase64(concatBytes(bytes, sum));
}

/**
 * SQL that is true of the contents of NFTs: the first byte is the output's type (A.8), which the
 * first two characters of base64 tell. Type 6 is `Bg` to `Bv`.
 */
export function isNftSql(column: string): string {
  return `substr(${column}, 1, 2) BETWEEN 'Bg' AND 'Bv'`;
}

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
    if (sum === sumOf(bytes)) return bytes;
  } catch {
    // not base64 any more, too short, or a checksum above 2^53: damaged too
  }
  throw new LedgerDamaged(`contents of output 0x${outputId}`);
}
