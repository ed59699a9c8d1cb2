/**
 * The verdict on a transaction whose inputs are all unspent (TIP-0018, TIP-0020; docs/protocol.md,
 * D.2). It has six stages; the first that fails decides. It depends on the transaction, the
 * consumed outputs and the milestone's timestamp, and on no protocol parameter. The timestamp
 * enters S1 and S2, and through the addresses that S2 unlocks also S3, S4.2 and the issuers of S6.
 * Everything else is computed once, in a plan.
 */
import { equalBytes } from '../encoding/bytes.ts';
import type { AddressKey } from '../wire/address.ts';
import { consumedIds, outputId } from '../wire/ids.ts';
import { type ChainFault, findChainFault } from './chain-transitions.ts';
import { type ChainKey, chainTable } from './chains.ts';
import { type DepositPlan, judgeDeposits, planDeposits } from './deposits.ts';
import { brokenTokenRule, sumTokens } from './native-tokens.ts';
import {
  commitmentMatches,
  type PlannedInput,
  planUnlocking,
  requiredIssuers,
  requiredSenders,
  timelocksOf,
  type UnlockedAddresses,
  unlockInputs,
} from './unlocking.ts';
import {
  ConflictReason,
  type ConsumedOutput,
  type Fault,
  type JudgedTransaction,
  type VerdictStep,
} from './verdict.ts';

/**
 * Returns the verdict in a milestone with the timestamp `unixTime` (seconds): `None` if the
 * transaction is applied. Throws an Error if `consumed` are not the transaction's inputs, in order.
 */
export function judgeAt(
  tx: JudgedTransaction,
  consumed: readonly ConsumedOutput[],
  unixTime: number,
): ConflictReason {
  return findFault(tx, consumed, unixTime)?.reason ?? ConflictReason.None;
}

/**
 * Returns what decides that the transaction is in conflict in a milestone with the timestamp
 * `unixTime` (seconds); undefined if it is applied. Throws like {@link judgeAt}.
 */
export function findFault(
  tx: JudgedTransaction,
  consumed: readonly ConsumedOutput[],
  unixTime: number,
): Fault | undefined {
  return faultAt(plan(tx, consumed), unixTime);
}

/**
 * Returns the verdicts at all timestamps, ascending, without repeats. Throws like {@link judgeAt}.
 */
export function judgeOverTime(
  tx: JudgedTransaction,
  consumed: readonly ConsumedOutput[],
): VerdictStep[] {
  const planned = plan(tx, consumed);
  const steps: VerdictStep[] = [];
  for (const from of breakpoints(planned)) {
    const reason = faultAt(planned, from)?.reason ?? ConflictReason.None;
    if (reason !== steps.at(-1)?.reason) steps.push({ from, reason });
  }
  return steps;
}

interface Plan {
  /** When each input's timelock ends, Unix seconds; 0 where it has none. */
  timelocks: readonly number[];
  /** When all of them have ended. */
  timelockedUntil: number;
  commitmentMatches: boolean;
  inputs: readonly PlannedInput[];
  senders: readonly { output: number; address: AddressKey }[];
  deposits: DepositPlan;
  /** The rule of S5 that is broken. */
  tokenRule: string | undefined;
  /** Not worked out where a rule of S5 is broken. */
  chainFault: ChainFault | undefined;
  issuers: readonly { chain: ChainKey; address: AddressKey }[];
  /** The places of a chain among inputs and outputs. */
  inputOf: (chain: ChainKey) => number;
  outputOf: (chain: ChainKey) => number;
}

function plan(tx: JudgedTransaction, consumed: readonly ConsumedOutput[]): Plan {
  // D.1 has found the inputs, so a difference is a mistake in this program
  if (!areInputsOf(tx, consumed))
    throw new Error('the outputs given are not those that the transaction consumes');
  const { outputs } = tx.value.essence;
  const inputs = consumed.map(({ output }) => output);
  const inChains = chainTable(inputs, (i) => consumed[i]!.id);
  const outChains = chainTable(outputs, (i) => outputId(tx.id, i));
  const inSums = sumTokens(inputs);
  const outSums = sumTokens(outputs);
  const tokenRule = brokenTokenRule(inSums, outSums, outChains);
  const timelocks = timelocksOf(consumed);
  return {
    timelocks,
    timelockedUntil: Math.max(0, ...timelocks),
    commitmentMatches: commitmentMatches(tx, consumed),
    inputs: planUnlocking(tx, consumed, outChains),
    senders: requiredSenders(outputs),
    deposits: planDeposits(inputs, outputs),
    tokenRule,
    chainFault:
      tokenRule === undefined
        ? findChainFault(outputs, inChains, outChains, inSums!, outSums!)
        : undefined,
    issuers: requiredIssuers(inChains, outChains),
    inputOf: (chain) => inputs.indexOf(inChains.get(chain)!),
    outputOf: (chain) => outputs.indexOf(outChains.get(chain)!),
  };
}

export function areInputsOf(
  { value }: Pick<JudgedTransaction, 'value'>,
  consumed: readonly ConsumedOutput[],
): boolean {
  const ids = consumedIds(value.essence);
  return ids.length === consumed.length && ids.every((id, i) => equalBytes(id, consumed[i]!.id));
}

function faultAt(planned: Plan, unixTime: number): Fault | undefined {
  // S1: a timelock ends with its second
  if (unixTime < planned.timelockedUntil) {
    const input = planned.timelocks.findIndex((until) => unixTime < until);
    return { reason: ConflictReason.TimelockNotExpired, rule: 'S1', input };
  }
  // S2
  if (!planned.commitmentMatches)
    return { reason: ConflictReason.InvalidInputsCommitment, rule: 'S2.0' };
  const unlocked: UnlockedAddresses = new Map();
  const unlocking = unlockInputs(planned.inputs, unixTime, unlocked);
  if (unlocking !== undefined) return unlocking;
  // S3
  const locked = planned.senders.find(({ address }) => !unlocked.has(address));
  if (locked !== undefined)
    return { reason: ConflictReason.InvalidSender, rule: 'S3', output: locked.output };
  // S4
  const depositing = judgeDeposits(planned.deposits, unlocked);
  if (depositing !== undefined) return depositing;
  // S5
  if (planned.tokenRule !== undefined)
    return { reason: ConflictReason.InvalidNativeTokens, rule: planned.tokenRule };
  // S6
  return chainFaultAt(planned, unlocked);
}

/** S6: missing issuers and transitions that are not valid have the same reason. */
function chainFaultAt(
  { chainFault, issuers, inputOf, outputOf }: Plan,
  unlocked: UnlockedAddresses,
): Fault | undefined {
  const reason = ConflictReason.InvalidChainStateTransition;
  if (chainFault?.rule === 'S6.1')
    return { reason, rule: chainFault.rule, input: inputOf(chainFault.chain) };
  const unissued = issuers.find(({ address }) => !unlocked.has(address));
  if (chainFault === undefined && unissued === undefined) return undefined;
  const outputs = [chainFault, unissued].flatMap((each) => (each ? [outputOf(each.chain)] : []));
  return { reason, rule: 'S6.2', output: Math.min(...outputs) };
}

/**
 * Returns the timestamps at which the verdict may change, ascending from 0: the end of the last
 * timelock, and every expiration after it.
 */
function breakpoints({ timelockedUntil, inputs }: Plan): number[] {
  const expirations = inputs.flatMap(({ expiration }) =>
    expiration === undefined ? [] : [expiration.unixTime],
  );
  const after = expirations.filter((unixTime) => unixTime > timelockedUntil);
  return [...new Set([0, timelockedUntil, ...after])].sort((a, b) => a - b);
}
