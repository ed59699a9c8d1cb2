/** Who owns an NFT at a moment: as the verdict on a transaction of its owner says. */
import { describe, expect, it } from 'vitest';
import { ownerAt } from '../../src/stardust/owner.ts';
import { type Address, AddressType } from '../../src/stardust/wire/address.ts';
import { type NftOutput, OutputType } from '../../src/stardust/wire/output.ts';
import type { UnlockCondition } from '../../src/stardust/wire/unlock-condition.ts';

const address = (byte: number): Address => ({
  type: AddressType.Ed25519,
  id: new Uint8Array(32).fill(byte),
});
const [alice, bob] = [address(1), address(2)];
const timelock = (unixTime: number): UnlockCondition => ({ type: 2, unixTime });
const expiration = (unixTime: number): UnlockCondition => {
  return { type: 3, returnAddress: bob, unixTime };
};

function nft(...conditions: UnlockCondition[]): NftOutput {
  return {
    type: OutputType.Nft,
    amount: 1n,
    nativeTokens: [],
    nftId: new Uint8Array(32),
    unlockConditions: [{ type: 0, address: alice }, ...conditions],
    features: [],
    immutableFeatures: [],
  };
}

describe('the owner', () => {
  it.each([
    ['without conditions', nft(), { address: alice }],
    ['before a timelock ends', nft(timelock(101)), { address: alice, timelockedUntil: 101 }],
    ['in the second in which it ends', nft(timelock(100)), { address: alice }],
    [
      'before an expiration',
      nft(expiration(101)),
      { address: alice, passesTo: { address: bob, unixTime: 101 } },
    ],
    ['in its second', nft(expiration(100)), { address: bob }],
    [
      'expired and locked',
      nft(timelock(101), expiration(99)),
      { address: bob, timelockedUntil: 101 },
    ],
    [
      'neither yet',
      nft(timelock(101), expiration(102)),
      { address: alice, timelockedUntil: 101, passesTo: { address: bob, unixTime: 102 } },
    ],
  ])('%s', (_, output, owner) => {
    expect(ownerAt(output, 100)).toEqual(owner);
  });
});
