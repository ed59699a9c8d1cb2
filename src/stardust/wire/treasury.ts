/**
 * The treasury: base tokens not yet migrated from the legacy network (TIP-0034; docs/protocol.md,
 * E.5). The ledger holds one treasury output; a receipt spends it and creates the next one.
 */
import { equalBytes } from '../encoding/bytes.ts';
import { type Codec, fixed, record, u64 } from '../encoding/codec.ts';
import type { Milestone } from './milestone.ts';
import { receiptOf } from './milestone.ts';

export interface Treasury {
  /** 32 bytes: the ID of the milestone that created it, all zero if the network began with it. */
  milestoneId: Uint8Array;
  /** Base tokens, uint64. */
  amount: bigint;
}

/**
 * Codec of snapshot files (docs/snapshot-format.md#full-header and
 * docs/snapshot-format.md#milestone-diff).
 */
export const treasury: Codec<Treasury> = record<Treasury>({ milestoneId: fixed(32), amount: u64 });

/** Returns the treasury that a milestone creates; undefined if it has no receipt. */
export function treasuryAfter(milestone: Milestone, milestoneId: Uint8Array): Treasury | undefined {
  const receipt = receiptOf(milestone);
  return receipt && { milestoneId, amount: receipt.transaction.output.amount };
}

export function equalTreasuries(a: Treasury, b: Treasury): boolean {
  return a.amount === b.amount && equalBytes(a.milestoneId, b.milestoneId);
}
