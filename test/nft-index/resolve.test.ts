import { describe, expect, test } from 'vitest';
import type { Entry, KvRead } from '../../src/nft-index/kv-values.ts';
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
  return { kind: 'value', value: { nft: NFT, generation, ledgerIndex, outputId } };
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

const range = answer(200, OLD, 'range');
const absentAt = (ledgerIndex: number, by: string) => answer(ledgerIndex, undefined, by);
const settled = NOW - SETTLING_TIME_MS;
const changed = (output: string | null) => recent({ fromTime: null, states: { [NFT]: output } });
const prefixed = recent({ fromTime: null, prefixes: `00000000${NFT.slice(0, 8)}` });
const foreign = entry(300, OLD, 'other');

type Case = [what: string, entry: KvRead<Entry>, recent: KvRead<Recent>, due: object];

describe.each<[string, Case[]]>([
  [
    'recent is not usable: D1 is asked, whatever the entry says',
    [
      ['absent', entry(250), ABSENT, ask('recent is absent')],
      ['malformed', entry(250), MALFORMED, ask('recent is malformed')],
      [
        'old',
        entry(250),
        recent({ publishedAt: NOW - MAX_RECENT_AGE_MS - 1 }),
        ask('recent is old'),
      ],
      [
        'of the future',
        entry(250),
        recent({ publishedAt: NOW + MAX_CLOCK_SKEW_MS + 1 }),
        ask('recent is of the future'),
      ],
      ['just young enough', entry(150), recent({ publishedAt: NOW - MAX_RECENT_AGE_MS }), range],
      ['within the skew', entry(150), recent({ publishedAt: NOW + MAX_CLOCK_SKEW_MS }), range],
    ],
  ],
  [
    'an entry that was read from D1 as late as recent, or later, is the answer',
    [
      ['as late', entry(200), changed(NEW), answer(200, OLD, 'entry')],
      ['later', entry(201), changed(NEW), answer(201, OLD, 'entry')],
      ['a tombstone', entry(200, null), recent(), absentAt(200, 'entry')],
      ['of another ledger', foreign, recent(), ask('entry is of another ledger')],
    ],
  ],
  [
    'a change in recent is the answer, whatever the entry says',
    [entry(199), ABSENT, MALFORMED, foreign].flatMap((copy): Case[] => [
      [`another output, ${copy.kind}`, copy, changed(NEW), answer(200, NEW, 'change')],
      [`burned, ${copy.kind}`, copy, changed(null), absentAt(200, 'change')],
      [`among the prefixes, ${copy.kind}`, copy, prefixed, ask('changed lately')],
    ]),
  ],
  [
    'no change in recent',
    [
      ['a prefix across two', entry(199), recent({ prefixes: `0${'a'.repeat(8)}0000000` }), range],
      ['an entry within its range', entry(100), recent({ fromTime: null }), range],
      ['settled or not', entry(100), recent({ fromTime: NOW }), range],
      ['a tombstone there', entry(199, null), recent({ fromTime: null }), absentAt(200, 'range')],
      // all copies have the changes before the range
      ['an older entry', entry(99), recent(), answer(200, OLD, 'age')],
      ['an older tombstone', entry(99, null), recent(), absentAt(200, 'age')],
      ['no entry', ABSENT, recent(), absentAt(200, 'age')],
      ...[entry(99), ABSENT].flatMap((copy): Case[] => [
        [
          `incomplete, ${copy.kind}`,
          copy,
          recent({ fromTime: null }),
          ask('index is not complete'),
        ],
        [
          `unsettled, ${copy.kind}`,
          copy,
          recent({ fromTime: settled + 1 }),
          ask('index is not settled'),
        ],
      ]),
      // by the publisher's clock, not the reader's
      [
        'unsettled then',
        ABSENT,
        recent({ fromTime: settled, publishedAt: NOW - 1 }),
        ask('index is not settled'),
      ],
      ...[40, 100].flatMap((from): Case[] => [
        [
          `before a filling, from ${from}`,
          entry(49),
          recent({ from }),
          ask('entry is of an earlier filling'),
        ],
        [
          `of a filling, from ${from}`,
          entry(50),
          recent({ from }),
          expect.objectContaining({ outputId: OLD }),
        ],
      ]),
      ['malformed is not absent', MALFORMED, recent(), ask('entry is malformed')],
      [
        'foreign is not absent',
        entry(150, OLD, 'other'),
        recent(),
        ask('entry is of another ledger'),
      ],
    ],
  ],
  [
    // the NFT changed between the two, which `recent` of the ledger before is done with
    'a ledger that was set back from a back-up puts an entry at an earlier milestone',
    [
      ['which would be believed', entry(50), recent(), answer(200, OLD, 'age')],
      [
        'so it is another generation',
        entry(50, OLD, 'new'),
        recent(),
        ask('entry is of another ledger'),
      ],
    ],
  ],
])('%s', (_, cases) => {
  test.each(cases)('%s', (_, copy, published, due) => {
    expect(resolve(copy, published, NFT, NOW)).toEqual(due);
  });
});

test('a property that every JavaScript object has is no change', () => {
  expect(resolve(entry(199), recent(), 'constructor', NOW)).toEqual(range);
});
