/** Who owns an NFT at a moment: as the verdict on a transaction of its owner says. */
import { describe, expect, it } from 'vitest';
import { ownerAt } from '../../../src/stardust/output.ts';
import { keyPair } from '../../support/payloads/keys.ts';
import { expiration, nft, timelock } from '../../support/payloads/outputs.ts';

const alice = keyPair('alice');
const bob = keyPair('bob');
const { address } = alice;

describe('the owner', () => {
  const toBob = (unixTime: number) => ({ address: bob.address, unixTime });

  it.each([
    ['without conditions', [], { address }],
    ['before a timelock ends', [timelock(101)], { address, timelockedUntil: 101 }],
    ['in the second in which it ends', [timelock(100)], { address }],
    ['before an expiration', [expiration(bob, 101)], { address, passesTo: toBob(101) }],
    ['in its second', [expiration(bob, 100)], { address: bob.address }],
    [
      'expired and locked',
      [timelock(101), expiration(bob, 99)],
      { address: bob.address, timelockedUntil: 101 },
    ],
    [
      'neither yet',
      [timelock(101), expiration(bob, 102)],
      { address, timelockedUntil: 101, passesTo: toBob(102) },
    ],
    ['that expires to itself', [expiration(alice, 101)], { address }],
  ])('%s', (_, conditions, owner) => {
    expect(ownerAt(nft(alice, { conditions }), 100)).toEqual(owner);
  });

  it.each([undefined, Number.NaN, 1.5, Number.POSITIVE_INFINITY, '100' as never])(
    'of no time, %s, is nobody',
    (time) => {
      const output = nft(alice, { conditions: [expiration(bob, 101)] });
      expect(() => ownerAt(output, time as number)).toThrow(RangeError);
    },
  );
});
