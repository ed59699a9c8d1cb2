/** Values that are read from KV are checked like any input. */
import { describe, expect, test } from 'vitest';
import { readEntry, writeEntry, writeKvValue } from '../../src/nft-index/kv-values.ts';
import {
  hasPrefixOf,
  PREFIX_LENGTH,
  type Recent,
  readRecent,
  writeRecent,
} from '../../src/nft-index/recent-changes.ts';

const NFT = 'a'.repeat(64);
const OUTPUT = '1'.repeat(68);
const ENTRY = { nft: NFT, generation: 'g', ledgerIndex: 7, outputId: OUTPUT };
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
    expect(readEntry(NFT, writeEntry(entry))).toEqual({ kind: 'value', value: entry });
  });

  test('whatever bit is flipped, wherever it is cut off: malformed', () => {
    const text = writeEntry(ENTRY);
    for (let at = 0; at < text.length; at++) {
      for (let bit = 1; bit < 128; bit *= 2) {
        const flipped = String.fromCharCode(text.charCodeAt(at) ^ bit);
        const read = readEntry(NFT, text.slice(0, at) + flipped + text.slice(at + 1));
        expect([at, bit, read.kind]).toEqual([at, bit, 'malformed']);
      }
      expect(readEntry(NFT, text.slice(0, at)).kind).toBe('malformed');
    }
  });

  test('of another NFT: malformed', () => {
    expect(readEntry('b'.repeat(64), writeEntry(ENTRY))).toEqual({
      kind: 'malformed',
      why: 'entry is of another NFT',
    });
  });

  test('of a version before checksums: malformed; and so is an entry of this one to that', () => {
    const { nft: _, ...before } = ENTRY;
    expect(readEntry(NFT, JSON.stringify(before)).kind).toBe('malformed');
    expect(() => JSON.parse(writeEntry(ENTRY))).toThrow(SyntaxError);
  });

  test('absent', () => {
    expect(readEntry(NFT, null)).toEqual({ kind: 'absent' });
  });

  test.each([
    writeKvValue(''),
    writeKvValue(null),
    writeKvValue([]),
    writeKvValue({}),
    writeKvValue({ ...ENTRY, generation: 7 }),
    writeKvValue({ ...ENTRY, ledgerIndex: -1 }),
    writeKvValue({ ...ENTRY, ledgerIndex: 1.5 }),
    writeKvValue({ ...ENTRY, ledgerIndex: '7' }),
    writeKvValue({ ...ENTRY, ledgerIndex: 2 ** 32 }),
    writeKvValue({ ...ENTRY, outputId: OUTPUT.slice(1) }),
    writeKvValue({ ...ENTRY, outputId: 'A'.repeat(68) }),
    writeKvValue({ ...ENTRY, outputId: undefined }),
    writeKvValue({ ...ENTRY, more: 1 }),
  ])('malformed: %s', (text) => {
    expect(readEntry(NFT, text)).toMatchObject({
      kind: 'malformed',
      why: expect.stringMatching(/./),
    });
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
    expect(writeRecent(RECENT)).toBe(writeKvValue(STORED));
  });

  test.each([
    ['cut off', writeRecent(RECENT).slice(0, 100)],
    ['filling left out', writeKvValue({ ...STORED, filledFrom: undefined })],
    ['range', writeKvValue({ ...STORED, from: 8 })],
    ['index', writeKvValue({ ...STORED, to: 7.5 })],
    ['time', writeKvValue({ ...STORED, publishedAt: '2000' })],
    ['time left out', writeKvValue({ ...STORED, fromTime: undefined })],
    ['NFT ID', writeKvValue({ ...STORED, answers: { [NFT.slice(1)]: OUTPUT } })],
    ['output ID', writeKvValue({ ...STORED, answers: { [NFT]: NFT } })],
    ['list', writeKvValue({ ...STORED, answers: [] })],
    ['half a prefix', writeKvValue({ ...STORED, others: '0123' })],
    ['prefix', writeKvValue({ ...STORED, others: '0123456x' })],
    ['more', writeKvValue({ ...STORED, more: 1 })],
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
