import { afterEach, describe, expect, test, vi } from 'vitest';
import type { RecentCache } from '../../src/nft-index/cached-reads.ts';
import { RememberedReads } from '../../src/nft-index/cached-reads.ts';
import { entryKey, type IndexReader, writeEntry } from '../../src/nft-index/kv-values.ts';
import { lookUpNft, type NftSources } from '../../src/nft-index/look-up-nft.ts';
import { RECENT_KEY, writeRecent } from '../../src/nft-index/recent-changes.ts';
import { MAX_READ_MS, SETTLING_TIME_MS } from '../../src/nft-index/timing-assumptions.ts';
import { atFreshTime } from '../support/fresh-lines.ts';

const NFT = 'a'.repeat(64);
const OUTPUT = '1'.repeat(68);
const START = 1_700_000_000_000;

/** A ledger at index 10, and an index in KV that was published at 8. */
function setUp() {
  const readNft = async (nft: string) => ({ ledgerIndex: 10, output: nft === NFT ? OUTPUT : null });
  const times = { fromTime: START - SETTLING_TIME_MS, publishedAt: START };
  const values = new Map([
    [entryKey(NFT), writeEntry({ nft: NFT, generation: 'g', ledgerIndex: 7, outputId: OUTPUT })],
    [
      RECENT_KEY,
      writeRecent({
        generation: 'g',
        from: 7,
        to: 8,
        filledFrom: 7,
        ...times,
        states: {},
        prefixes: '',
      }),
    ],
  ]);
  const reads: string[] = [];
  const index: IndexReader = {
    async get(key) {
      reads.push(key);
      return values.get(key) ?? null;
    },
  };
  const time = { now: START };
  const deferred: Promise<unknown>[] = [];
  const request = {
    url: 'https://edge.example/',
    defer: (work: () => Promise<unknown>) => void deferred.push(work()),
  };
  const sources: NftSources = {
    ledger: { readNft },
    index,
    openCache: () => undefined,
    remembered: new RememberedReads(),
    clock: () => time.now,
  };
  const look = (nftId = NFT, minLedgerIndex = 0, from = sources) =>
    lookUpNft(from, nftId, minLedgerIndex, request);
  return { values, reads, sources, time, deferred, look };
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('KV', () => {
  test('that does not answer is waited for a second', async () => {
    vi.useFakeTimers();
    try {
      const { look, sources } = setUp();
      const get = () => new Promise<never>(() => {});
      const answer = look(NFT, 0, { ...sources, index: { get } });
      await vi.advanceTimersByTimeAsync(MAX_READ_MS);
      expect(await answer).toMatchObject({ ledgerIndex: 10, outputId: OUTPUT, source: 'd1' });
    } finally {
      vi.useRealTimers();
    }
  });

  test('does not answer from an entry that was swapped with another, or has a flipped bit', async () => {
    const { look, sources, values } = setUp();
    const lookAgain = () => look(NFT, 0, { ...sources, remembered: new RememberedReads() });
    const other = 'b'.repeat(64);
    const [own, recent] = [values.get(entryKey(NFT))!, values.get(RECENT_KEY)!];
    const swapped = { nft: other, generation: 'g', ledgerIndex: 7, outputId: '9'.repeat(68) };
    values.set(entryKey(NFT), writeEntry(swapped));
    expect(await lookAgain()).toMatchObject({ outputId: OUTPUT, source: 'd1' });
    const flip = (text: string, at: number) =>
      text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1);
    for (const [key, text] of [
      [entryKey(NFT), own],
      [RECENT_KEY, recent],
    ] as const) {
      values.set(entryKey(NFT), own);
      for (let at = 0; at < text.length; at++) {
        values.set(key, flip(text, at));
        expect(await lookAgain()).toMatchObject({
          outputId: OUTPUT,
          source: 'd1',
          ledgerIndex: 10,
        });
      }
      values.set(key, text);
    }
  });

  test('whose key the disk may have damaged proves no absence', async () => {
    const { look, sources, values } = setUp();
    values.delete(entryKey(NFT));
    expect(await look(NFT, 0, { ...sources, readGeneration: async () => 'g' })).toEqual({
      ledgerIndex: 10,
      outputId: OUTPUT,
      source: 'd1',
      why: 'entry is absent',
    });
  });

  test('of a ledger that an import has replaced says nothing', async () => {
    const { look, sources } = setUp();
    expect(await look(NFT, 0, { ...sources, readGeneration: async () => 'new' })).toEqual({
      ledgerIndex: 10,
      outputId: OUTPUT,
      source: 'd1',
      why: 'recent is absent',
    });
  });

  test('answers, by one read of each key', async () => {
    const { look, reads } = setUp();
    expect(await look()).toEqual({
      ledgerIndex: 8,
      outputId: OUTPUT,
      source: 'kv',
      why: 'range',
    });
    expect(reads).toEqual([entryKey(NFT), RECENT_KEY]);
  });

  test('is remembered for less than a second, each key on its own', async () => {
    const { look, reads, time } = setUp();
    const other = 'b'.repeat(64);
    await look();
    time.now += 999;
    await look();
    expect(reads.splice(0)).toEqual([entryKey(NFT), RECENT_KEY]);
    await look(other);
    expect(reads.splice(0)).toEqual([entryKey(other)]);
    time.now += 1;
    await look();
    expect(reads.splice(0)).toEqual([entryKey(NFT), RECENT_KEY]);
    time.now += 999;
    await look(other);
    expect(reads.splice(0)).toEqual([entryKey(other)]);
  });

  test('is not remembered by a clock that went back', async () => {
    const { look, reads, time } = setUp();
    await look();
    time.now -= 1;
    await look();
    expect(reads.length).toBe(4);
  });

  test('is not remembered when a clock that was set back comes to its time again', async () => {
    const { look, reads, time, values } = setUp();
    await look();
    time.now -= 3_600_000;
    await look('b'.repeat(64));
    time.now = START + 500;
    const moved = { nft: NFT, generation: 'g', ledgerIndex: 9, outputId: '2'.repeat(68) };
    values.set(entryKey(NFT), writeEntry(moved));
    reads.length = 0;
    expect(await look()).toMatchObject({ ledgerIndex: 9, outputId: '2'.repeat(68) });
    expect(reads).toEqual([entryKey(NFT), RECENT_KEY]);
  });

  test('is remembered for a bounded number of NFTs', async () => {
    const { look, reads } = setUp();
    for (let i = 0; i <= 1_000; i++) await look(i.toString(16).padStart(64, '0'));
    reads.length = 0;
    await look((1_000).toString(16).padStart(64, '0'));
    expect(reads).toEqual([]);
    await look('0'.repeat(64));
    expect(reads).toEqual([entryKey('0'.repeat(64))]);
  });

  test('proves that an NFT does not exist', async () => {
    const { look } = setUp();
    expect(await look('b'.repeat(64))).toEqual({
      ledgerIndex: 8,
      outputId: undefined,
      source: 'kv',
      why: 'age',
    });
  });
});

describe('the cache', () => {
  /** Isolates of one data centre, each remembering nothing. */
  function setUpCached() {
    const { look, sources, ...rest } = setUp();
    const texts: string[] = [];
    const cache: RecentCache = {
      match: async () => texts.at(-1),
      put: async (text) => void texts.push(text),
    };
    const lookInNewIsolate = () =>
      look(NFT, 0, { ...sources, openCache: () => cache, remembered: new RememberedReads() });
    return { ...rest, texts, look: lookInNewIsolate };
  }

  test('saves all reads of recent but the first', async () => {
    const { look, reads, deferred } = setUpCached();
    await look();
    expect(reads.splice(0)).toEqual([entryKey(NFT), RECENT_KEY]);
    await Promise.all(deferred);
    for (let i = 0; i < 3; i++) {
      expect(await look()).toMatchObject({ ledgerIndex: 8, outputId: OUTPUT, why: 'range' });
      expect(reads.splice(0)).toEqual([entryKey(NFT)]);
    }
  });

  test('does not make recent younger', async () => {
    const { look, time, deferred } = setUpCached();
    await look();
    await Promise.all(deferred);
    time.now += 121_000;
    expect(await look()).toMatchObject({ ledgerIndex: 10, source: 'd1', why: 'recent is old' });
  });

  test('is passed over where its value is malformed', async () => {
    const { look, texts, reads } = setUpCached();
    texts.push('{"from":');
    expect(await look()).toMatchObject({ ledgerIndex: 8, source: 'kv' });
    expect(reads).toEqual([entryKey(NFT), RECENT_KEY]);
  });

  test.each([undefined, '{"from":'])('is given no value of KV such as %s', async (value) => {
    const { look, values, texts, deferred } = setUpCached();
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    if (value === undefined) values.delete(RECENT_KEY);
    else values.set(RECENT_KEY, value);
    expect(await look()).toMatchObject({ source: 'd1' });
    await Promise.all(deferred);
    expect(texts).toEqual([]);
  });
});

describe('D1', () => {
  test('answers when recent is old, at its own ledger index', async () => {
    const { look, time } = setUp();
    time.now += 121_000;
    expect(await look()).toEqual({
      ledgerIndex: 10,
      outputId: OUTPUT,
      source: 'd1',
      why: 'recent is old',
    });
    expect(await look('b'.repeat(64))).toMatchObject({
      ledgerIndex: 10,
      outputId: undefined,
      source: 'd1',
    });
  });

  test('answers when a value is malformed, which is logged', async () => {
    atFreshTime();
    const { look, values } = setUp();
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    values.set(RECENT_KEY, '{"from":');
    expect(await look()).toMatchObject({ source: 'd1', why: 'recent is malformed' });
    expect(warn.mock.lastCall?.[0]).toContain('"event":"nft-index.malformed","key":"recent"');
  });

  test('answers when KV fails, which is logged', async () => {
    atFreshTime();
    const { look, sources } = setUp();
    const error = vi.spyOn(console, 'error').mockImplementation(() => {});
    const index: IndexReader = { get: () => Promise.reject(new Error('KV is away')) };
    const answer = await look(NFT, 0, { ...sources, index });
    expect(answer).toEqual({ ledgerIndex: 10, outputId: OUTPUT, source: 'd1', why: 'KV failed' });
    expect(error.mock.lastCall?.[0]).toContain('KV is away');
  });

  test('answers a client that asks for a later ledger index than KV has', async () => {
    const { look } = setUp();
    expect(await look(NFT, 8)).toMatchObject({ ledgerIndex: 8, source: 'kv' });
    expect(await look(NFT, 9)).toMatchObject({
      ledgerIndex: 10,
      source: 'd1',
      why: 'a later one was asked for',
    });
    expect(await look(NFT, 10)).toMatchObject({ ledgerIndex: 10, source: 'd1' });
    expect(await look(NFT, 11)).toMatchObject({ ledgerIndex: 10, source: 'd1' });
  });

  test('has nothing to say where there is no ledger', async () => {
    const { look, sources, values } = setUp();
    values.clear();
    const ledger = { readNft: async () => undefined };
    expect(await look(NFT, 0, { ...sources, ledger })).toBeUndefined();
  });
});
