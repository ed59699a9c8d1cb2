/** Who can unlock an output, in sentences, and exactly when. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeSentence } from '../../../client/words/sentence.ts';
import { describeUnlock, type UnlockMoment, unlockPeriods } from '../../../client/words/unlock.ts';
import type { Address } from '../../../src/stardust/wire/address.ts';
import type { Output } from '../../../src/stardust/wire/output.ts';
import {
  alias,
  aliasAddress,
  basic,
  depositReturn,
  expiration,
  foundry,
  idOf,
  nft,
  nftAddress,
  timelock,
} from '../../support/payloads/outputs.ts';

const key = (name: string): Address => ({ type: 0, id: idOf(name) });
const [ANNA, BERT] = [key('anna'), key('bert')];
const ALIAS = aliasAddress(idOf('alias'));

/** 3 May 2027, 12:00:00 UTC. */
const MAY = 1_809_345_600;
const DAY = 86_400;

const NETWORK = { bech32Hrp: 'smr', baseToken: { tickerSymbol: 'SMR', decimals: 6 } };

/** The sentences, with names in place of bech32. */
function say(output: Output, moment: Partial<UnlockMoment> = {}, own?: Address): string[] {
  const at = { unixTime: MAY - DAY, tense: 'now', ...moment } as const;
  return describeUnlock(output, at, own).map((sentence) =>
    writeSentence(
      sentence.map((part) =>
        typeof part === 'object' && 'address' in part ? (nameOf(part.address) ?? part) : part,
      ),
      NETWORK,
    ),
  );
}

const nameOf = (address: Address) =>
  address === ANNA ? 'ANNA' : address === BERT ? 'BERT' : undefined;

describe('an output with an address', () => {
  it('alone belongs to it', () => {
    expect(say(basic(ANNA))).toEqual(['Only ANNA can spend it.']);
    expect(say(basic(ANNA), { tense: 'ended' })).toEqual([
      'Only ANNA could spend it when the network ended.',
    ]);
    expect(say(nft(ANNA), { tense: 'spent' })).toEqual([
      'Only ANNA could spend it when it was spent.',
    ]);
  });

  it('writes it in bech32', () => {
    const [sentence] = describeUnlock(basic(ANNA), { unixTime: 0, tense: 'now' });
    expect(writeSentence(sentence!, NETWORK)).toMatch(/^Only smr1q[0-9a-z]{58} can spend it\.$/);
  });

  it('with an expiration passes on, in the second that it names', () => {
    const output = basic(ANNA, { conditions: [expiration(BERT, MAY)] });
    const before =
      'Only ANNA can spend it before 3 May 2027, 12:00:00 UTC; from then on only BERT can.';
    expect(say(output)).toEqual([before]);
    expect(say(output, { unixTime: MAY - 1 })).toEqual([before]);
    expect(say(output, { unixTime: MAY })).toEqual(['Only BERT can spend it.']);
    expect(say(output, { tense: 'ended' })).toEqual([
      'Only ANNA could spend it when the network ended; from 3 May 2027, 12:00:00 UTC on only BERT could have.',
    ]);
    expect(say(output, { tense: 'spent' })).toEqual([
      'Only ANNA could spend it when it was spent.',
    ]);
  });

  it('with a timelock is held, but not in the second that it names', () => {
    const output = nft(ANNA, { conditions: [timelock(MAY)] });
    const held = 'Nobody can spend it before 3 May 2027, 12:00:00 UTC; from then on only ANNA can.';
    expect(say(output, { unixTime: MAY - 1 })).toEqual([held]);
    expect(say(output, { unixTime: MAY })).toEqual(['Only ANNA can spend it.']);
  });

  it('with both has three periods, or two where it expires first', () => {
    const both = (lock: number, expires: number) =>
      basic(ANNA, { conditions: [timelock(lock), expiration(BERT, expires)] });
    expect(say(both(MAY, MAY + DAY))).toEqual([
      'Nobody can spend it before 3 May 2027, 12:00:00 UTC; from then on only ANNA can, and from 4 May 2027, 12:00:00 UTC on only BERT can.',
    ]);
    const expiresFirst =
      'Nobody can spend it before 4 May 2027, 12:00:00 UTC; from then on only BERT can.';
    expect(say(both(MAY + DAY, MAY))).toEqual([expiresFirst]);
    expect(say(both(MAY + DAY, MAY + DAY))).toEqual([expiresFirst]);
  });

  it('that passes on to itself does not pass on', () => {
    expect(say(basic(ANNA, { conditions: [expiration(ANNA, MAY)] }))).toEqual([
      'Only ANNA can spend it.',
    ]);
  });
});

it('the periods are those of S1 and S2.3, at any time', () => {
  const time = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 0xffff_ffff }));
  const given = fc.tuple(fc.option(time), fc.option(time), time, time);
  fc.assert(
    fc.property(given, ([lock, expires, now, later]) => {
      const conditions = [
        ...(lock === null ? [] : [timelock(lock)]),
        ...(expires === null ? [] : [expiration(BERT, expires)]),
      ];
      const periods = unlockPeriods(basic(ANNA, { conditions }), now);
      const at = Math.max(now, later);
      const { owner } = periods.findLast(({ from }) => from === undefined || from <= at)!;
      const isLocked = lock !== null && at < lock;
      const isExpired = expires !== null && expires <= at;
      expect(owner).toBe(isLocked ? undefined : isExpired ? BERT : ANNA);
      expect(periods.map(({ from }) => from)[0]).toBeUndefined();
    }),
    { numRuns: 2000 },
  );
});

describe('a storage deposit', () => {
  const borrowed = depositReturn(BERT, 50_000n);

  it('is returned', () => {
    const output = basic(ANNA, { conditions: [borrowed] });
    expect(say(output)[1]).toBe('Spending it returns 0.05 SMR to BERT.');
    expect(say(output, { tense: 'spent' })[1]).toBe('Spending it returned 0.05 SMR to BERT.');
    expect(say(output, { tense: 'ended' })[1]).toBe(
      'Spending it would have returned 0.05 SMR to BERT.',
    );
  });

  it('is not returned by whom it belongs to', () => {
    const output = basic(ANNA, { conditions: [borrowed, expiration(BERT, MAY)] });
    expect(say(output)[1]).toBe(
      'Spending it returns 0.05 SMR to BERT, unless that address itself unlocks it.',
    );
    expect(say(output, { unixTime: MAY })[1]).toBe(
      'The storage deposit of 0.05 SMR is due to BERT, who unlocks it: nothing is returned.',
    );
  });

  it('of an NFT to its own address is not returned', () => {
    const own = nftAddress(idOf('nft'));
    const output = nft(ANNA, { conditions: [depositReturn(own, 1n)] });
    expect(say(output, {}, own)[1]).toMatch(/nothing is returned\.$/);
    expect(say(output, {}, nftAddress(idOf('other')))[1]).toMatch(
      /^Spending it returns 0\.000001 SMR to NFT smr1z[0-9a-z]+\.$/,
    );
  });
});

describe('a chain', () => {
  it('of an alias has two who can change it', () => {
    expect(say(alias(ANNA, BERT))).toEqual([
      'Only ANNA, its state controller, can change its state and what it holds.',
      'Only BERT, its governor, can change its controllers and metadata, or destroy it and move what it held.',
    ]);
    expect(say(alias(ANNA, BERT), { tense: 'ended' })[0]).toBe(
      'Only ANNA, its state controller, could change its state and what it holds when the network ended.',
    );
  });

  it('of a foundry belongs to its alias, and how an alias unlocks is said', () => {
    const [who, how] = say(foundry(ALIAS.id));
    expect(who).toMatch(
      /^Only alias smr1p[0-9a-z]+ can mint or melt its tokens, change it or destroy it\.$/,
    );
    expect(how).toMatch(/^An alias unlocks outputs in a transaction of its state controller/);
    expect(say(basic(ALIAS))[1]).toBe(how);
    expect(say(basic(nftAddress(idOf('nft'))))[1]).toMatch(/^An NFT unlocks outputs/);
  });
});
