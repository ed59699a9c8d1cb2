/**
 * What decided that a transaction is in conflict (docs/protocol.md, D.2): for people who ask why.
 */
import type { ConflictReason } from './conflict-reason.ts';

export interface Fault {
  reason: Exclude<ConflictReason, typeof ConflictReason.None>;
  /** The rule that decided, by its number in docs/protocol.md. */
  rule: string;
  /**
   * Place of the input that decided, from 0: of several the first. Absent where the transaction as
   * a whole did, as where sums differ.
   */
  input?: number;
  /** Place of the output of the transaction that decided, from 0: of several the first. */
  output?: number;
}
