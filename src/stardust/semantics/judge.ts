/**
 * The verdict on a transaction whose inputs are all unspent (TIP-0018, TIP-0020; docs/protocol.md,
 * D.2). It has six stages; the first that fails decides.
 *
 * The verdict depends on the transaction, the consumed outputs and the milestone's timestamp, and
 * on no protocol parameter. The timestamp enters S1 and S2, and through the addresses that S2
 * unlocks also S3, S4.2 and the issuers of S6. Everything else is computed once, in a plan, from
 * which the verdict at any timestamp is derived.
 */
import type { AddressKey } from '../address.ts';
import { equalBytes } from '../bytes.ts';
import { outputId } from '../ids.ts';
import { chainsValid } from './chain-transitions.ts';
import { chainTable } from './chains.ts';
import { ConflictReason, type VerdictStep } from './conflict-reason.ts';
import { type DepositPlan, judgeDeposits, planDeposits } from './deposits.ts';
import { requiredIssuers } from './issuer.ts';
import type { ConsumedOutput, JudgedTransaction } from './judged-transaction.ts';
import { sumTokens, tokensBalanced } from './native-tokens.ts';
import { requiredSenders } from './senders.ts';
import {
  commitmentMatches,
  type PlannedInput,
  planUnlocking,
  timelockedUntil,
  type UnlockedAddresses,
  unlockInputs,
} from './unlocking.ts';

/**
 * The verdict in a milestone with the timestamp `unixTime` (seconds): `None` if the transaction is
 * applied. Throws an Error if `consumed` are not the transaction's inputs, in their order.
 */
export function judge(
  tx: JudgedTransaction,
  consumed: readonly ConsumedOutput[],
  unixTime: number,
): ConflictReason {
  return verdictAt(plan(tx, consumed), unixTime);
}

/**
 * The verdicts at all timestamps, in ascending order; neighbouring steps have different reasons.
 * Throws as {@link judge} does.
 */
export function judgeOverTime(
  tx: JudgedTransaction,
  consumed: readonly ConsumedOutput[],
): VerdictStep[] {
  const planned = plan(tx, consumed);
  const steps: VerdictStep[] = [];
  for (const from of breakpoints(planned)) {
    const reason = verdictAt(planned, from);
    if (reason !== steps.at(-1)?.reason) steps.push({ from, reason });
  }
  return steps;
}

interface Plan {
  timelockedUntil: number;
  commitmentMatches: boolean;
  inputs: readonly PlannedInput[];
  senders: readonly AddressKey[];
  deposits: DepositPlan;
  tokensValid: boolean;
  chainsValid: boolean;
  issuers: readonly AddressKey[];
}

function plan(tx: JudgedTransaction, consumed: readonly ConsumedOutput[]): Plan {
  checkConsumed(tx, consumed);
  const { outputs } = tx.value.essence;
  const inputs = consumed.map(({ output }) => output);
  const inChains = chainTable(inputs, (i) => consumed[i]!.id);
  const outChains = chainTable(outputs, (i) => outputId(tx.id, i));
  const inSums = sumTokens(inputs);
  const outSums = sumTokens(outputs);
  const tokensValid =
    inSums !== undefined && outSums !== undefined && tokensBalanced(inSums, outSums, outChains);
  return {
    timelockedUntil: timelockedUntil(consumed),
    commitmentMatches: commitmentMatches(tx, consumed),
    inputs: planUnlocking(tx, consumed, outChains),
    senders: requiredSenders(outputs),
    deposits: planDeposits(inputs, outputs),
    tokensValid,
    chainsValid: tokensValid && chainsValid(outputs, inChains, outChains, inSums, outSums),
    issuers: requiredIssuers(inChains, outChains),
  };
}

/**
 * D.1 has found the inputs, so a difference is a mistake in this program, not in the transaction.
 */
function checkConsumed(tx: JudgedTransaction, consumed: readonly ConsumedOutput[]): void {
  const { inputs } = tx.value.essence;
  const right =
    consumed.length === inputs.length &&
    inputs.every((input, i) =>
      equalBytes(consumed[i]!.id, outputId(input.transactionId, input.outputIndex)),
    );
  if (!right) throw new Error('the outputs given are not those that the transaction consumes');
}

function verdictAt(planned: Plan, unixTime: number): ConflictReason {
  // S1: a timelock ends with its second
  if (unixTime < planned.timelockedUntil) return ConflictReason.TimelockNotExpired;
  // S2
  if (!planned.commitmentMatches) return ConflictReason.InvalidInputsCommitment;
  const unlocked: UnlockedAddresses = new Map();
  const unlocking = unlockInputs(planned.inputs, unixTime, unlocked);
  if (unlocking !== ConflictReason.None) return unlocking;
  // S3
  if (!planned.senders.every((sender) => unlocked.has(sender))) return ConflictReason.InvalidSender;
  // S4
  const depositing = judgeDeposits(planned.deposits, unlocked);
  if (depositing !== ConflictReason.None) return depositing;
  // S5
  if (!planned.tokensValid) return ConflictReason.InvalidNativeTokens;
  // S6: missing issuers and transitions that are not valid have the same reason
  const issued = planned.issuers.every((issuer) => unlocked.has(issuer));
  return planned.chainsValid && issued
    ? ConflictReason.None
    : ConflictReason.InvalidChainStateTransition;
}

/**
 * The timestamps at which the verdict may change, ascending from 0: the end of the last timelock,
 * and every expiration after it.
 */
function breakpoints({ timelockedUntil, inputs }: Plan): number[] {
  const expirations = inputs.flatMap(({ expiration }) =>
    expiration === undefined ? [] : [expiration.unixTime],
  );
  const after = expirations.filter((unixTime) => unixTime > timelockedUntil);
  return [...new Set([0, timelockedUntil, ...after])].sort((a, b) => a - b);
}
