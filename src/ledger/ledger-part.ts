/**
 * The part of a module in the ledger (src/modules/README.md): what it saves from pruning, in the
 * transaction that prunes, and tables for the scrub.
 */
import type { Database } from './core/database.ts';
import type { Head } from './core/head.ts';
import type { Query } from './core/read-batch.ts';

export interface LedgerPart {
  /**
   * Keeps what pruning is about to delete, if HISTORY is `all`. Where nobody does, `head.history`
   * is 0 from then on.
   */
  carry?: Carry;
  tables?: readonly FingerprintedTable[];
}

/**
 * Reads what the milestones after the first up to `target` have that is to be kept, or as many of
 * them as a step takes, but one. Throws a LedgerDamaged if it is damaged.
 *
 * @param first the oldest milestone that is kept
 * @param target the first one that is to be kept
 * @param most milestones of the step
 */
export type Carry = (
  db: Database,
  head: Head,
  first: number,
  target: number,
  most: number,
) => Promise<Carried>;

export interface Carried {
  /** The milestone that becomes the first one. */
  last: number;
  /** New value of `head.history`. */
  history: number;
  /** Empty if nothing is taken along. */
  fence: D1PreparedStatement[];
  /** Run behind the deletion of milestones: a full database needs their room. */
  inserts: D1PreparedStatement[];
}

/** A table whose fingerprint is in `head.integrity`, which the scrub reads after the ledger's own. */
export interface FingerprintedTable {
  name: string;
  isKept(head: Head): boolean;
  /**
   * Selects rows behind an ID, in the order of IDs. Throws a LedgerDamaged if one is not what was
   * written.
   */
  selectNext(db: Database, after: string, most: number): Query<RowInSum[]>;
}

/** A row as it counts in its table's fingerprint. */
export interface RowInSum {
  id: string;
  sum: number;
}
