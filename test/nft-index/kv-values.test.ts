/** Values that are read from KV are checked like any input. */
import { describe, expect, test } from 'vitest';
import { readEntry, writeEntry } from '../../src/nft-index/kv-values.ts';
import {
  hasPrefixOf,
  PREFIX_LENGTH,
  type Recent,
  readRecent,
  writeRecent,
} from '../../src/nft-index/recent-changes.ts';

const NFT = 'a'.repeat(64);
const OUTPUT = '1'.repeat(68);
const ENTRY = { generation: 'g', ledgerIndex: 7, outputId: OUTPUT };
const RECENT: Recent = {
  generation: 'g',
  from: 1,
  to: 7,
  filledFrom: 3,
  fromTime: 1_000,
  publishedAt: 2_000,
  states: { [NFT]: OUTPUT },
  prefixes: '',
};

/** RECENT as it stands in KV. */
const STORED = {
  generation: 'g',
  from: 1,
  to: 7,
  filledFrom: 3,
  fromTime: 1_000,
  publishedAt: 2_000,
  answers: { [NFT]: OUTPUT },
  others: '',
};

describe('entry', () => {
  test.each([ENTRY, { ...ENTRY, outputId: null }])('is read as it was written: %j', (entry) => {
    expect(readEntry(writeEntry(entry))).toEqual({ kind: 'value', value: entry });
  });

  test('absent', () => {
    expect(readEntry(null)).toEqual({ kind: 'absent' });
  });

  test.each([
    '',
    'null',
    '[]',
    '{}',
    writeEntry(ENTRY).slice(0, -1),
    JSON.stringify({ ...ENTRY, generation: 7 }),
    JSON.stringify({ ...ENTRY, ledgerIndex: -1 }),
    JSON.stringify({ ...ENTRY, ledgerIndex: 1.5 }),
    JSON.stringify({ ...ENTRY, ledgerIndex: '7' }),
    JSON.stringify({ ...ENTRY, ledgerIndex: 2 ** 32 }),
    JSON.stringify({ ...ENTRY, outputId: OUTPUT.slice(1) }),
    JSON.stringify({ ...ENTRY, outputId: 'A'.repeat(68) }),
    JSON.stringify({ ...ENTRY, outputId: undefined }),
    JSON.stringify({ ...ENTRY, more: 1 }),
  ])('malformed: %s', (text) => {
    expect(readEntry(text)).toMatchObject({ kind: 'malformed', why: expect.stringMatching(/./) });
  });
});

describe('recent', () => {
  test.each([
    RECENT,
    { ...RECENT, fromTime: null, states: { [NFT]: null }, prefixes: '0123456789abcdef' },
  ])('is read as it was written: %j', (recent) => {
    expect(readRecent(writeRecent(recent))).toEqual({ kind: 'value', value: recent });
  });

  test('stands in KV by these names', () => {
    expect(writeRecent(RECENT)).toBe(JSON.stringify(STORED));
  });

  test.each([
    ['cut off', writeRecent(RECENT).slice(0, 100)],
    ['filling left out', JSON.stringify({ ...STORED, filledFrom: undefined })],
    ['range', JSON.stringify({ ...STORED, from: 8 })],
    ['index', JSON.stringify({ ...STORED, to: 7.5 })],
    ['time', JSON.stringify({ ...STORED, publishedAt: '2000' })],
    ['time left out', JSON.stringify({ ...STORED, fromTime: undefined })],
    ['NFT ID', JSON.stringify({ ...STORED, answers: { [NFT.slice(1)]: OUTPUT } })],
    ['output ID', JSON.stringify({ ...STORED, answers: { [NFT]: NFT } })],
    ['list', JSON.stringify({ ...STORED, answers: [] })],
    ['half a prefix', JSON.stringify({ ...STORED, others: '0123' })],
    ['prefix', JSON.stringify({ ...STORED, others: '0123456x' })],
    ['more', JSON.stringify({ ...STORED, more: 1 })],
  ])('malformed: %s', (_, text) => {
    expect(readRecent(text)).toMatchObject({ kind: 'malformed' });
  });

  test('finds each of 50,000 prefixes, and hardly any other', () => {
    const ids = Array.from({ length: 50_000 }, (_, i) =>
      (BigInt(i + 1) * 0x9e3779b97f4a7c15n)
        .toString(16)
        .padStart(16, '0')
        .slice(-16)
        .padEnd(64, '0'),
    );
    const prefixes = ids.map((id) => id.slice(0, PREFIX_LENGTH)).join('');
    expect(prefixes.length).toBe(400_000);
    const recent = { ...RECENT, prefixes };
    for (let i = 0; i < ids.length; i += 500) expect(hasPrefixOf(recent, ids[i]!)).toBe(true);
    const strangers = Array.from({ length: 200 }, (_, i) =>
      (BigInt(i + 1) * 0xd1342543de82ef95n).toString(16).slice(-16).padEnd(64, '1'),
    );
    expect(strangers.filter((id) => hasPrefixOf(recent, id)).length).toBeLessThan(3);
  });
});
