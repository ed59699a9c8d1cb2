/**
 * Checksums of what D1 holds, so that a flipped bit on disk never becomes an answer. They can be
 * continued, so that blocks are appended to a pack without reading it.
 */

const SUM_MASK = 0xfffff;
const TWO_32 = 2 ** 32;

/**
 * Continues the checksum `before` over these bytes, by Fletcher's method: the sum of the bytes, in
 * 20 bits, and of all sums on the way, in 32. Any change within one byte changes the first. Each
 * byte counts one more than its value, so that a zero that is missing does, too.
 */
export function checksum(bytes: Uint8Array, before = 0): number {
  let sum = Math.floor(before / TWO_32);
  let sums = (before % TWO_32) | 0;
  for (let i = 0; i < bytes.length; i++) {
    sum = (sum + bytes[i]! + 1) & SUM_MASK;
    sums = (sums + sum) | 0;
  }
  return sum * TWO_32 + (sums >>> 0);
}

/** Stored data is not what was written. The message is for people: ASCII. */
export class LedgerDamaged extends Error {
  override readonly name = 'LedgerDamaged';
  readonly what: string;

  /** @param what in the plural: "statuses of pack 12" */
  constructor(what: string) {
    super(
      `${what} are damaged on disk: restore a back-up or import a snapshot ` +
        '(docs/runbooks.md#the-database-is-damaged)',
    );
    this.what = what;
  }
}

/** The head is damaged, or says what is. */
export class HeadDamaged extends LedgerDamaged {}

/** Throws a LedgerDamaged where a stored text is no JSON, hex, base64 or number. */
export function readStored<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof SyntaxError ? new LedgerDamaged('texts in D1') : error;
  }
}

/**
 * Throws a LedgerDamaged unless the bytes have this checksum.
 *
 * @param what in the plural, for the message
 */
export function requireChecksum(bytes: Uint8Array, sum: number, what: string): void {
  if (checksum(bytes) !== sum) throw new LedgerDamaged(what);
}
