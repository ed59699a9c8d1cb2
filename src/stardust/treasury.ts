/**
 * The treasury: the base tokens that have not been migrated from the legacy network yet (TIP-0034; protocol.md E.5).
 *
 * The ledger holds exactly one such output. A milestone with a receipt spends it and makes the next one.
 */
import { equalBytes } from './bytes.ts';
import { type Codec, fixed, record, u64 } from './codec.ts';
import type { Milestone } from './milestone.ts';
import { receiptOf } from './milestone.ts';

export interface Treasury {
  /** 32 bytes: the milestone that made it, all zero if the network began with it. */
  milestoneId: Uint8Array;
  /** Base tokens, uint64. */
  amount: bigint;
}

/** As snapshot files write it (formats-and-clients.md 1.1, 1.5). */
export const treasury: Codec<Treasury> = record<Treasury>({ milestoneId: fixed(32), amount: u64 });

/** What a milestone makes of the treasury; undefined where it has no receipt and leaves it as it is. */
export function treasuryAfter(milestone: Milestone, milestoneId: Uint8Array): Treasury | undefined {
  const receipt = receiptOf(milestone);
  return receipt && { milestoneId, amount: receipt.transaction.output.amount };
}

export function equalTreasuries(a: Treasury, b: Treasury): boolean {
  return a.amount === b.amount && equalBytes(a.milestoneId, b.milestoneId);
}
