/**
 * The treasury, base tokens not yet migrated from the legacy network, and receipts: funds that a
 * milestone pays out of it (TIP-0034; docs/protocol.md, E.5). The ledger holds one treasury output;
 * a receipt spends it and creates the next one. A receipt is checked when its milestone is applied,
 * not when its block is parsed (M-8). As in the reference, neither the treasury output that it names
 * as its input (H-120) nor its index `migratedAt` matters.
 */
import { equalBytes, toHexDigits } from '../encoding/bytes.ts';
import { type Codec, fixed, record, u64 } from '../encoding/codec.ts';
import { migratedOutputId, outputBytes } from './ids.ts';
import { type Milestone, type ReceiptOption, receiptOf } from './milestone.ts';
import { type BasicOutput, OutputType } from './output.ts';
import { UnlockConditionType } from './unlock-condition.ts';

/** The least deposit of a migrated fund, base tokens. */
const MINIMUM_DEPOSIT = 1_000_000n;

/**
 * Returns why the receipt cannot be applied, undefined if it can (E.5).
 *
 * @param treasuryAmount what the treasury holds before the milestone, base tokens, uint64
 * @param tokenSupply of the protocol parameters in force, base tokens, uint64
 */
export function receiptFault(
  { funds, transaction }: ReceiptOption,
  treasuryAmount: bigint,
  tokenSupply: bigint,
): string | undefined {
  const seen = new Set<string>();
  let migrated = 0n;
  for (const { tailTransactionHash, deposit } of funds) {
    const tail = toHexDigits(tailTransactionHash);
    if (seen.has(tail)) return 'E.5: two funds of one tail transaction';
    seen.add(tail);
    if (deposit < MINIMUM_DEPOSIT) return `E.5: a deposit of ${deposit}, below ${MINIMUM_DEPOSIT}`;
    if (deposit > tokenSupply) return 'E.5: a deposit over the token supply';
    migrated = BigInt.asUintN(64, migrated + deposit);
    if (migrated > tokenSupply) return 'E.5: deposits over the token supply';
  }
  // The reference subtracts in uint64: more than the treasury holds may be paid out (H-119).
  const left = BigInt.asUintN(64, treasuryAmount - migrated);
  const { amount } = transaction.output;
  return left === amount ? undefined : `E.5: ${amount} left in the treasury where ${left} are due`;
}

export interface MigratedOutput {
  /** 34 bytes (B.10). */
  id: Uint8Array;
  output: BasicOutput;
  bytes: Uint8Array;
}

/**
 * Returns the outputs that the milestone's receipt, if it has one, creates, in the order of its
 * funds. No block carries them, and the rules of storage deposits do not apply.
 */
export function migratedOutputs(
  receipt: ReceiptOption | undefined,
  milestoneId: Uint8Array,
): MigratedOutput[] {
  return (receipt?.funds ?? []).map(({ address, deposit }, position) => {
    const output: BasicOutput = {
      type: OutputType.Basic,
      amount: deposit,
      nativeTokens: [],
      unlockConditions: [{ type: UnlockConditionType.Address, address }],
      features: [],
    };
    return { id: migratedOutputId(milestoneId, position), output, bytes: outputBytes(output) };
  });
}

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
