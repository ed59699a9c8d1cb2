/**
 * Receipts: funds of the legacy network that a milestone migrates out of the treasury (TIP-0034; protocol.md E.5).
 *
 * Checked when the milestone is applied, not when its block comes in (M-8). Like the reference, this does not ask which treasury output the
 * receipt names as its input, nor when the funds were migrated.
 */
import { toHexDigits } from './bytes.ts';
import { migratedOutputId, outputBytes } from './ids.ts';
import type { MigratedFunds, ReceiptOption } from './milestone.ts';
import { type BasicOutput, OutputType } from './output.ts';
import { UnlockConditionType } from './unlock-condition.ts';

/** Base tokens, the least that is migrated. */
const MINIMUM_DEPOSIT = 1_000_000n;

/**
 * Why the receipt cannot be applied, or undefined.
 *
 * `treasuryAmount` is what the treasury holds before it, `tokenSupply` that of the parameters in force; both base tokens, uint64.
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
  // in uint64, as the reference reckons: more than there is may be taken out (case 119)
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

/** The outputs that the receipt of this milestone creates, in its order. No block carries them, and no deposit rule binds them. */
export function migratedOutputs(
  { funds }: ReceiptOption,
  milestoneId: Uint8Array,
): MigratedOutput[] {
  return funds.map((fund, position) => {
    const output = migratedOutput(fund);
    return { id: migratedOutputId(milestoneId, position), output, bytes: outputBytes(output) };
  });
}

function migratedOutput({ address, deposit }: MigratedFunds): BasicOutput {
  return {
    type: OutputType.Basic,
    amount: deposit,
    nativeTokens: [],
    unlockConditions: [{ type: UnlockConditionType.Address, address }],
    features: [],
  };
}
