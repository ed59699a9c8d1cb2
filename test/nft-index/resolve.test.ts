import { describe, expect, test } from 'vitest';
import type { Entry } from '../../src/nft-index/kv-entry.ts';
import type { KvRead } from '../../src/nft-index/kv-value.ts';
import type { Recent } from '../../src/nft-index/recent-changes.ts';
import { resolve } from '../../src/nft-index/resolve.ts';
import {
  MAX_CLOCK_SKEW_MS,
  MAX_RECENT_AGE_MS,
  SETTLING_TIME_MS,
} from '../../src/nft-index/timing-assumptions.ts';

const NOW = 1_700_000_000_000;
const NFT = 'a'.repeat(64);
const OLD = '1'.repeat(68);
const NEW = '2'.repeat(68);

function entry(
  ledgerIndex: number,
  outputId: string | null = OLD,
  generation = 'g',
): KvRead<Entry> {
  return { kind: 'value', value: { generation, ledgerIndex, outputId } };
}

function recent(fields: Partial<Recent> = {}): KvRead<Recent> {
  const settled = { fromTime: NOW - SETTLING_TIME_MS, publishedAt: NOW };
  return {
    kind: 'value',
    value: {
      generation: 'g',
      filledFrom: 50,
      from: 100,
      to: 200,
      ...settled,
      states: {},
      prefixes: '',
      ...fields,
    },
  };
}

const ABSENT = { kind: 'absent' } as const;
const MALFORMED = { kind: 'malformed', why: '' } as const;
const answer = (ledgerIndex: number, outputId: string | undefined, by: string) => ({
  kind: 'answer',
  ledgerIndex,
  outputId,
  by,
});
const ask = (why: string) => ({ kind: 'ask-ledger', why });

describe('without a usable recent, D1 is asked, whatever the entry says', () => {
  test.each([
    ['absent', ABSENT, ask('recent is absent')],
    ['malformed', MALFORMED, ask('recent is malformed')],
    ['old', recent({ publishedAt: NOW - MAX_RECENT_AGE_MS - 1 }), ask('recent is old')],
    [
      'of the future',
      recent({ publishedAt: NOW + MAX_CLOCK_SKEW_MS + 1 }),
      ask('recent is of the future'),
    ],
  ])('%s', (_, copy, expected) => {
    expect(resolve(entry(250), copy, NFT, NOW)).toEqual(expected);
  });

  test('as long as its age and the clocks stay within their bounds it is usable', () => {
    for (const publishedAt of [NOW - MAX_RECENT_AGE_MS, NOW + MAX_CLOCK_SKEW_MS]) {
      expect(resolve(entry(150), recent({ publishedAt }), NFT, NOW)).toEqual(
        answer(200, OLD, 'range'),
      );
    }
  });
});

describe('an entry that was read from D1 as late as recent, or later, is the answer', () => {
  test.each([200, 201])('at %d', (ledgerIndex) => {
    expect(resolve(entry(ledgerIndex), recent({ states: { [NFT]: OLD } }), NFT, NOW)).toEqual(
      answer(ledgerIndex, OLD, 'entry'),
    );
    expect(resolve(entry(ledgerIndex, null), recent(), NFT, NOW)).toEqual(
      answer(ledgerIndex, undefined, 'entry'),
    );
  });

  test('not if it is of another ledger', () => {
    expect(resolve(entry(250, OLD, 'other'), recent(), NFT, NOW)).toEqual(
      ask('entry is of another ledger'),
    );
  });
});

describe('a change in recent is the answer, whatever the entry says', () => {
  test.each([
    ['an older one', entry(199)],
    ['absent', ABSENT],
    ['malformed', MALFORMED],
    ['of another ledger', entry(300, OLD, 'other')],
  ])('%s', (_, copy) => {
    const value = { fromTime: null };
    expect(resolve(copy, recent({ ...value, states: { [NFT]: NEW } }), NFT, NOW)).toEqual(
      answer(200, NEW, 'change'),
    );
    expect(resolve(copy, recent({ ...value, states: { [NFT]: null } }), NFT, NOW)).toEqual(
      answer(200, undefined, 'change'),
    );
    expect(
      resolve(copy, recent({ ...value, prefixes: `00000000${NFT.slice(0, 8)}` }), NFT, NOW),
    ).toEqual(ask('changed lately'));
  });

  test('prefixes count only as a whole', () => {
    const prefixes = `0${'a'.repeat(8)}0000000`;
    expect(resolve(entry(199), recent({ prefixes }), NFT, NOW)).toEqual(answer(200, OLD, 'range'));
  });

  test('a property that every JavaScript object has is no change', () => {
    expect(resolve(entry(199), recent(), 'constructor', NOW)).toEqual(answer(200, OLD, 'range'));
  });
});

describe('no change in recent', () => {
  test('an entry from within its range holds at its end, at any time', () => {
    for (const fromTime of [null, NOW]) {
      expect(resolve(entry(100), recent({ fromTime }), NFT, NOW)).toEqual(
        answer(200, OLD, 'range'),
      );
      expect(resolve(entry(199, null), recent({ fromTime }), NFT, NOW)).toEqual(
        answer(200, undefined, 'range'),
      );
    }
  });

  test('an older entry, or none, holds once all copies have the changes before the range', () => {
    expect(resolve(entry(99), recent(), NFT, NOW)).toEqual(answer(200, OLD, 'age'));
    expect(resolve(entry(99, null), recent(), NFT, NOW)).toEqual(answer(200, undefined, 'age'));
    expect(resolve(ABSENT, recent(), NFT, NOW)).toEqual(answer(200, undefined, 'age'));
  });

  test('before, D1 is asked', () => {
    for (const copy of [entry(99), ABSENT]) {
      expect(resolve(copy, recent({ fromTime: null }), NFT, NOW)).toEqual(
        ask('index is not complete'),
      );
      expect(resolve(copy, recent({ fromTime: NOW - SETTLING_TIME_MS + 1 }), NFT, NOW)).toEqual(
        ask('index is not settled'),
      );
    }
  });

  test("the publisher's clock decides on that, not the reader's", () => {
    const value = recent({ fromTime: NOW - SETTLING_TIME_MS, publishedAt: NOW - 1 });
    expect(resolve(ABSENT, value, NFT, NOW)).toEqual(ask('index is not settled'));
  });

  test('an entry of an earlier filling says nothing, wherever it would be in the range', () => {
    for (const from of [40, 100]) {
      const value = recent({ from, filledFrom: 50 });
      expect(resolve(entry(49), value, NFT, NOW)).toEqual(ask('entry is of an earlier filling'));
      expect(resolve(entry(50), value, NFT, NOW)).toMatchObject({ outputId: OLD });
    }
  });

  test('an entry that says nothing is not taken for an absent one', () => {
    expect(resolve(MALFORMED, recent(), NFT, NOW)).toEqual(ask('entry is malformed'));
    expect(resolve(entry(150, OLD, 'other'), recent(), NFT, NOW)).toEqual(
      ask('entry is of another ledger'),
    );
  });
});

describe('a ledger that was set back from a back-up puts an entry at an earlier milestone', () => {
  // the NFT changed between the two, which `recent` of the ledger before is done with
  const published = recent({ from: 100, to: 200 });

  test('and one of the same generation would be believed: a back-up gets a new one', () => {
    expect(resolve(entry(50), published, NFT, NOW)).toEqual(answer(200, OLD, 'age'));
    expect(resolve(entry(50, OLD, 'new'), published, NFT, NOW)).toEqual(
      ask('entry is of another ledger'),
    );
  });

  test('and the same generation does no harm once that `recent` is old', () => {
    const later = NOW + MAX_RECENT_AGE_MS + 1;
    expect(resolve(entry(50), published, NFT, later)).toEqual(ask('recent is old'));
  });
});
