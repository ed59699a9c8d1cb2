/**
 * Fingerprints of tables: the sum of the sums of their rows, which tells that a row vanished
 * (docs/storage.md#damage-on-disk).
 */
import type { Integrity } from './head.ts';

/** Fingerprints are below 2^52, so that two of them can be added up without rounding. */
const FINGERPRINT_MODULUS = 2 ** 52;

/** Adds sums of rows or fingerprints, which may be negative, to a fingerprint. */
export function addSums(...sums: readonly number[]): number {
  const modulus = FINGERPRINT_MODULUS;
  return sums.reduce((total, sum) => (((total + sum) % modulus) + modulus) % modulus, 0);
}

/** SQL of the fingerprint of up to 500,000 rows, NULL for none. `sum`: SQL of a row's sum. */
export function fingerprintSql(sum: string): string {
  return `sum(${sum}) % ${FINGERPRINT_MODULUS}`;
}

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
      fingerprints[table] = addSums(fingerprints[table]!, sum);
      if (scrub?.table === table && id <= scrub.after) scrub.sum = addSums(scrub.sum, sum);
    },
    moved: () => ({ ...before, fingerprints, ...(scrub && { scrub }) }),
  };
}
