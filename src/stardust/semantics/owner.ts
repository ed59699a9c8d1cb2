/**
 * Owner of an NFT or a basic output at a moment (docs/protocol.md, S1 and S2): only together its
 * unlock conditions, with up to two addresses and two times, say which address can unlock it.
 */
import { type Address, addressKey } from '../wire/address.ts';
import type { BasicOutput, NftOutput } from '../wire/output.ts';
import { addressIn, findCondition, UnlockConditionType } from '../wire/unlock-condition.ts';

export interface Owner {
  /** The one address that can unlock the output, as far as no timelock holds it. */
  address: Address;
  /** Unix seconds: a timelock holds the output, and nobody can unlock it before. */
  timelockedUntil?: number;
  /** The output expires, and then belongs to this other address and nobody else. */
  passesTo?: { address: Address; unixTime: number };
}

/**
 * Returns who can unlock the output, now and later. Throws a RangeError if the time is no integer:
 * with none, every output would have expired.
 *
 * @param unixTime seconds; a transaction is judged by the timestamp of the milestone that applies it
 *
 * @example
 * ```ts
 * import { toBech32 } from '@stardust-edge/protocol/bech32';
 * import { type NftOutput, ownerAt } from '@stardust-edge/protocol/output';
 *
 * export function ownerOf(nft: NftOutput): string {
 *   return toBech32('smr', ownerAt(nft, Math.floor(Date.now() / 1000)).address);
 * }
 * ```
 */
export function ownerAt(
  output: Pick<NftOutput | BasicOutput, 'unlockConditions'>,
  unixTime: number,
): Owner {
  if (!Number.isSafeInteger(unixTime))
    throw new RangeError(`the time must be an integer of Unix seconds, not ${unixTime}`);
  const address = addressIn(output, UnlockConditionType.Address);
  const timelock = findCondition(output, UnlockConditionType.Timelock);
  // S1: in the second that it names, a timelock holds no more
  const locked = timelock !== undefined && timelock.unixTime > unixTime;
  const lock = locked ? { timelockedUntil: timelock.unixTime } : {};
  const expiration = findCondition(output, UnlockConditionType.Expiration);
  if (expiration === undefined || addressKey(expiration.returnAddress) === addressKey(address))
    return { address, ...lock };
  // S2.3: from that second on the return address owns the output
  if (expiration.unixTime <= unixTime) return { address: expiration.returnAddress, ...lock };
  const passesTo = { address: expiration.returnAddress, unixTime: expiration.unixTime };
  return { address, ...lock, passesTo };
}
