/** `recent` in the Cache API of workerd, with a real D1 and a real KV behind it. */
import { env, exports } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createRecentCaches } from '../../src/nft-index/cached-reads.ts';
import { openIndexLedger } from '../../src/nft-index/d1-ledger.ts';
import { lookUpNft, type NftSources } from '../../src/nft-index/look-up-nft.ts';
import { openNftSources } from '../../src/nft-index/nft-sources.ts';
import { publish } from '../../src/nft-index/publish.ts';
import { RECENT_KEY } from '../../src/nft-index/recent-changes.ts';
import { RECENT_CACHE_S } from '../../src/nft-index/timing-assumptions.ts';
import {
  nftId,
  openTestLedger,
  outputId,
  resetState,
} from '../support/nft-index/d1-test-ledger.ts';

const { LEDGER, NFT_INDEX } = env;
const HOST = 'https://edge.example';
const A = nftId('a');
const BUDGET = { operations: 900, statements: 500 };

let now = 1_700_000_000_000;
let version: string;
const ledger = openTestLedger(LEDGER);

/** Looks the NFT up in an isolate that remembers nothing; returns the keys that it read in KV. */
async function look(versionId: string | undefined, url = HOST): Promise<string[]> {
  const reads: string[] = [];
  const sources: NftSources = {
    ...openNftSources(LEDGER, NFT_INDEX, versionId, () => now),
    index: {
      get(key, options) {
        reads.push(key);
        return NFT_INDEX.get(key, options);
      },
    },
  };
  const deferred: Promise<unknown>[] = [];
  const defer = (work: () => Promise<unknown>) => void deferred.push(work());
  const answer = await lookUpNft(sources, A, 0, { url: `${url}/path`, defer });
  expect(answer).toMatchObject({ outputId: outputId('1'), source: 'kv' });
  await Promise.all(deferred);
  return reads.filter((key) => key === RECENT_KEY);
}

beforeEach(async () => {
  version = crypto.randomUUID();
  await resetState(LEDGER);
  await ledger.import(`of ${version}`, 100, [{ nft: A, output: outputId('1') }]);
  for (let done = false; !done; now += 1_000)
    ({ done } = await publish(openIndexLedger(LEDGER), NFT_INDEX, () => now, BUDGET));
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe('recent', () => {
  test('is read once in KV, then in the cache', async () => {
    expect(await look(version)).toEqual([RECENT_KEY]);
    expect(await look(version)).toEqual([]);
    expect(await look(version)).toEqual([]);
  });

  test('is cached for each version on its own, and for each host', async () => {
    await look(version);
    expect(await look(crypto.randomUUID())).toEqual([RECENT_KEY]);
    expect(await look(version, 'https://other.example')).toEqual([RECENT_KEY]);
  });

  test.each([
    ['without a version', () => look(undefined)],
    ['on workers.dev', () => look(version, 'https://edge.someone.workers.dev')],
  ])('is not cached %s', async (_, lookUp) => {
    await lookUp();
    expect(await lookUp()).toEqual([RECENT_KEY]);
  });

  test('is kept for seconds, apart from the cache of responses', async () => {
    await look(version);
    const key = `${HOST}/recent?version=${version}`;
    const kept = await (await caches.open('nft-index')).match(key);
    expect(kept?.headers.get('cache-control')).toBe(`public, max-age=${RECENT_CACHE_S}`);
    expect(await kept?.text()).toBe(await NFT_INDEX.get(RECENT_KEY));
    expect(await caches.default.match(key)).toBeUndefined();
  });
});

test('the Worker itself caches recent once it has answered', async () => {
  for (let done = false; !done; await scheduler.wait(100))
    ({ done } = await publish(openIndexLedger(LEDGER), NFT_INDEX, Date.now, BUDGET));
  const response = await exports.default.fetch(`${HOST}/api/indexer/v1/outputs/nft/0x${A}`);
  expect(await response.json()).toEqual({ ledgerIndex: 100, items: [`0x${outputId('1')}`] });
  const cache = await caches.open('nft-index');
  await vi.waitFor(async () =>
    expect(await cache.match(`${HOST}/recent?version=${env.VERSION.id}`)).toBeDefined(),
  );
});

test('a cache that hangs is not waited for, nor asked again soon', { timeout: 5000 }, async () => {
  const open = vi.fn(() => new Promise<never>(() => {}));
  const recent = createRecentCaches({ open } as unknown as CacheStorage, version)(HOST)!;
  for (let i = 0; i < 3; i++) expect(await recent.match()).toBeUndefined();
  expect(open).toHaveBeenCalledTimes(1);
});

test('a cache that fails is logged, and done without for a minute', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const open = vi.fn(() => Promise.reject(new Error('no cache here')));
  const openCache = createRecentCaches({ default: caches.default, open }, version);
  expect(await openCache(HOST)?.match()).toBeUndefined();
  expect(await openCache(HOST)?.match()).toBeUndefined();
  expect(open).toHaveBeenCalledTimes(1);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 });
  onTestFinished(() => void vi.useRealTimers());
  expect(await openCache(HOST)?.match()).toBeUndefined();
  expect(open).toHaveBeenCalledTimes(2);
  const line = [expect.stringContaining('"event":"nft-index.uncached"')];
  expect(warn.mock.calls).toEqual([line, line]);
});
