/**
 * Transactions with real signatures. Their verdicts are known from how they are made, without the
 * product's judge.
 *
 * They have Ed25519 addresses only, and outputs with a time condition are spent alone.
 */

import { equalBytes, isZero, toHex } from '../../../src/stardust/encoding/bytes.ts';
import { ConflictReason } from '../../../src/stardust/semantics/verdict.ts';
import { AddressType } from '../../../src/stardust/wire/address.ts';
import {
  chainIdFromOutputId,
  outputBytes,
  outputId,
  transactionId,
} from '../../../src/stardust/wire/ids.ts';
import { type AliasOutput, type Output, OutputType } from '../../../src/stardust/wire/output.ts';
import type { TaggedData } from '../../../src/stardust/wire/transaction.ts';
import { findCondition, UnlockConditionType } from '../../../src/stardust/wire/unlock-condition.ts';
import type { KeyPair } from '../payloads/keys.ts';
import { ZERO } from '../payloads/outputs.ts';
import { referTo, transactionBytes } from '../payloads/transactions.ts';

/** An output that can be consumed. */
export interface Coin {
  /** 34 bytes. */
  id: Uint8Array;
  output: Output;
  bytes: Uint8Array;
}

/** A coin, and who signs for it: its owner, or not. */
export interface Spend {
  coin: Coin;
  by: KeyPair;
}

/** `chain`: the caller says that the outputs break a rule of alias or NFT chains (D.3). */
export type Defect = 'signature' | 'commitment' | 'chain';

export interface MadeTransaction {
  payload: Uint8Array;
  id: Uint8Array;
  /** The IDs of the outputs that it consumes, `0x…`. */
  inputs: string[];
  /** What it creates. */
  coins: Coin[];
  /** The verdict in a milestone of this timestamp, given that all inputs are there. */
  verdict(timestamp: number): ConflictReason;
}

export interface TransactionOptions {
  defect?: Defect;
  /** Tagged data that it carries. */
  payload?: TaggedData | undefined;
  networkId: bigint;
}

export function coin(id: Uint8Array, value: Output): Coin {
  return { id, output: value, bytes: outputBytes(value) };
}

export function makeTransaction(
  spends: readonly Spend[],
  outputs: readonly Output[],
  { defect, payload: tagged, networkId }: TransactionOptions,
): MadeTransaction {
  const payload = transactionBytes({
    inputs: spends.map(({ coin: { id, output }, by }, i) => {
      const first = spends.findIndex((spend) => spend.by === by);
      return { id, output, unlock: first < i ? referTo(first) : by };
    }),
    outputs: [...outputs],
    networkId,
    ...(tagged && { payload: tagged }),
    ...(defect === 'commitment' && { commitment: ZERO }),
    ...(defect === 'signature' && { signed: () => ZERO }),
  });
  const id = transactionId(payload);
  return {
    payload,
    id,
    inputs: spends.map(({ coin }) => toHex(coin.id)),
    coins: outputs.map((value, i) => coin(outputId(id, i), value)),
    verdict: verdictOf(spends, outputs, defect),
  };
}

/** D.2 for what can be made here, in its order. */
function verdictOf(
  spends: readonly Spend[],
  outputs: readonly Output[],
  defect: Defect | undefined,
) {
  const timed = spends.some(({ coin }) =>
    coin.output.unlockConditions.some(({ type }) => type in TIME_CONDITIONS),
  );
  if (timed && (spends.length > 1 || defect !== undefined))
    throw new Error('a time condition must be all there is');
  const sum = (values: readonly Output[]) =>
    values.reduce((total, { amount }) => total + amount, 0n);
  const balanced = sum(spends.map(({ coin }) => coin.output)) === sum(outputs);
  return (timestamp: number): ConflictReason => {
    if (spends.some(({ coin }) => isLocked(coin.output, timestamp)))
      return ConflictReason.TimelockNotExpired;
    if (defect === 'commitment') return ConflictReason.InvalidInputsCommitment;
    for (const [i, { coin, by }] of spends.entries()) {
      const first = spends.findIndex((spend) => spend.by === by) === i;
      if (!isOwner(by, coin, outputs, timestamp)) {
        return first ? ConflictReason.InvalidSignature : ConflictReason.InvalidInputUnlock;
      }
      if (defect === 'signature') return ConflictReason.InvalidSignature;
    }
    if (!balanced) return ConflictReason.InputOutputSumMismatch;
    return defect === 'chain' ? ConflictReason.InvalidChainStateTransition : ConflictReason.None;
  };
}

const TIME_CONDITIONS = {
  [UnlockConditionType.Timelock]: true,
  [UnlockConditionType.Expiration]: true,
};

function isLocked(value: Output, timestamp: number): boolean {
  return timestamp < (findCondition(value, UnlockConditionType.Timelock)?.unixTime ?? 0);
}

/** S2.1 to S2.3. */
function isOwner(
  by: KeyPair,
  { id, output: value }: Coin,
  outputs: readonly Output[],
  timestamp: number,
): boolean {
  const expiration = findCondition(value, UnlockConditionType.Expiration);
  const expired = expiration !== undefined && expiration.unixTime <= timestamp;
  const owner = expired ? expiration.returnAddress : usualOwner(value, id, outputs);
  return owner?.type === AddressType.Ed25519 && equalBytes(owner.id, by.address.id);
}

function usualOwner(value: Output, id: Uint8Array, outputs: readonly Output[]) {
  if (value.type !== OutputType.Alias)
    return findCondition(value, UnlockConditionType.Address)?.address;
  const aliasId = aliasIdOf(value, id);
  const next = outputs.find(
    (each) => each.type === OutputType.Alias && equalBytes(each.aliasId, aliasId),
  );
  const moved = next?.type === OutputType.Alias && next.stateIndex !== value.stateIndex;
  const type = moved ? UnlockConditionType.StateController : UnlockConditionType.Governor;
  return findCondition(value, type)?.address;
}

/** B.6 */
export function aliasIdOf(value: AliasOutput, id: Uint8Array): Uint8Array {
  return isZero(value.aliasId) ? chainIdFromOutputId(id) : value.aliasId;
}
