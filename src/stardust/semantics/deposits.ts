/**
 * Base tokens: inputs and outputs balance, and storage deposits are returned (TIP-0018, TIP-0020;
 * docs/protocol.md, D.2, S4). All sums wrap at 2^64, as in the reference, beyond any supply.
 */
import { type AddressKey, addressKey } from '../wire/address.ts';
import { type Output, OutputType } from '../wire/output.ts';
import { addressIn, findCondition, UnlockConditionType } from '../wire/unlock-condition.ts';
import { isUnlockedBy, type UnlockedAddresses } from './unlocking.ts';
import { ConflictReason, type Fault } from './verdict.ts';

export interface DepositPlan {
  /** S4.1 */
  balanced: boolean;
  /** The storage deposits that the inputs must return, base tokens. */
  borrowed: readonly { input: number; returnAddress: AddressKey; amount: bigint }[];
  /** Base tokens in simple outputs (S4.3), by owner. */
  paid: ReadonlyMap<AddressKey, bigint>;
}

export function planDeposits(inputs: readonly Output[], outputs: readonly Output[]): DepositPlan {
  return {
    balanced: totalAmount(inputs) === totalAmount(outputs),
    borrowed: borrowedBy(inputs),
    paid: paidBy(outputs),
  };
}

const addU64 = (a: bigint, b: bigint): bigint => BigInt.asUintN(64, a + b);

function totalAmount(outputs: readonly Output[]): bigint {
  return outputs.reduce((total, { amount }) => addU64(total, amount), 0n);
}

function borrowedBy(inputs: readonly Output[]): DepositPlan['borrowed'] {
  return inputs.flatMap((output, input) => {
    const condition = findCondition(output, UnlockConditionType.StorageDepositReturn);
    if (condition === undefined) return [];
    return [
      { input, returnAddress: addressKey(condition.returnAddress), amount: condition.amount },
    ];
  });
}

function addTo(sums: Map<AddressKey, bigint>, address: AddressKey, amount: bigint): void {
  sums.set(address, addU64(sums.get(address) ?? 0n, amount));
}

/** S4.3: only a basic output with an address condition and nothing else returns a deposit. */
function paidBy(outputs: readonly Output[]): ReadonlyMap<AddressKey, bigint> {
  const paid = new Map<AddressKey, bigint>();
  for (const output of outputs) {
    if (output.type !== OutputType.Basic) continue;
    const { unlockConditions, features, nativeTokens, amount } = output;
    if (unlockConditions.length !== 1 || features.length !== 0 || nativeTokens.length !== 0)
      continue;
    addTo(paid, addressKey(addressIn(output, UnlockConditionType.Address)), amount);
  }
  return paid;
}

/** S4. `unlocked` are the addresses that unlocked the inputs. */
export function judgeDeposits(
  { balanced, borrowed, paid }: DepositPlan,
  unlocked: UnlockedAddresses,
): Fault | undefined {
  if (!balanced) return { reason: ConflictReason.InputOutputSumMismatch, rule: 'S4.1' };
  const due = new Map<AddressKey, bigint>();
  // S4.2: nothing is due if the return address itself unlocked the input
  const owing = borrowed.filter(
    ({ input, returnAddress }) => !isUnlockedBy(unlocked, returnAddress, input),
  );
  for (const { returnAddress, amount } of owing) addTo(due, returnAddress, amount);
  for (const [address, amount] of due) {
    if (isReturned(amount, paid.get(address))) continue;
    // an input decides where not even its own deposit is returned; elsewhere only their sum does
    const alone = owing.find((each) => !isReturned(each.amount, paid.get(each.returnAddress)));
    return {
      reason: ConflictReason.ReturnAmountNotFulfilled,
      rule: 'S4.3',
      ...(alone && { input: alone.input }),
    };
  }
  return undefined;
}

/** S4.3: a return of 0 base tokens needs an output too. */
function isReturned(due: bigint, paid: bigint | undefined): boolean {
  return paid !== undefined && paid >= due;
}
