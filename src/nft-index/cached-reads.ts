/**
 * Copies of what was read from KV. An isolate remembers each read for a second, and parses a text of
 * `recent` once. The data centre's cache (Cache API) has `recent` for {@link RECENT_CACHE_S} seconds:
 * lookups there do not read KV, which is billed. Such a copy is only older: `recent` says when it was
 * published, and none that is too old answers (docs/nft-index.md).
 *
 * A cached `recent` must never meet the entries of another KV namespace, where an absent entry
 * proves nothing. Bindings change only with the Worker's version, so its ID is part of the key, and
 * without one nothing is cached. The cache has its own name: no response to a client can be in it.
 * `npm run serve` goes without: any `Host` of a request would be a file more on disk.
 *
 * The Cache API works by host, and has no effect on workers.dev
 * (https://developers.cloudflare.com/workers/runtime-apis/cache/).
 */
import { createBoundedMap } from '../platform/bounded-map.ts';
import { hasPassed, untilSettled } from '../platform/clock.ts';
import { describeError, writeLimitedLog } from '../platform/log.ts';
import { type Entry, type KvRead, readEntry } from './kv-values.ts';
import { type Recent, readRecent } from './recent-changes.ts';
import { RECENT_CACHE_S, REMEMBER_MS } from './timing-assumptions.ts';

/** Reading elsewhere takes 10 to 50 ms; a coordinator waits for 2 s. */
const MAX_WAIT_MS = 250;

/** Milliseconds after a failure in which an isolate goes without the cache. */
const REST_MS = 60_000;

/** Cache of `recent`. Neither call rejects. */
export interface RecentCache {
  match(): Promise<string | undefined>;
  put(text: string): Promise<void>;
}

/** @param url the request's; undefined: its host has no cache */
export type OpenRecentCache = (url: string) => RecentCache | undefined;

/**
 * Opens the cache, which only saves time: if it fails or hangs, the request goes on without it, and
 * so does the isolate for a minute.
 *
 * @param versionId of the Worker's version; undefined: nothing is cached
 */
export function createRecentCaches(
  storage: CacheStorage,
  versionId: string | undefined,
): OpenRecentCache {
  let failedAt = Number.NEGATIVE_INFINITY;

  /** Returns what the call returns; undefined where it rejects or takes too long. */
  async function attempt<T>(call: (cache: Cache) => Promise<T>): Promise<T | undefined> {
    if (!hasPassed(REST_MS, failedAt, Date.now())) return undefined;
    const called = (async () => call(await storage.open('nft-index')))();
    try {
      return await untilSettled(called, 'the Cache API', MAX_WAIT_MS);
    } catch (error) {
      writeLimitedLog('warn', 'nft-index.uncached', { error: describeError(error) });
      failedAt = Date.now();
      return undefined;
    }
  }

  return (url) => {
    if (versionId === undefined) return undefined;
    const { origin, hostname } = new URL(url);
    if (hostname.endsWith('.workers.dev')) return undefined;
    const key = `${origin}/recent?version=${encodeURIComponent(versionId)}`;
    return {
      match: () => attempt(async (cache) => (await cache.match(key))?.text()),
      async put(text) {
        const headers = { 'cache-control': `public, max-age=${RECENT_CACHE_S}` };
        await attempt((cache) => cache.put(key, new Response(text, { headers })));
      },
    };
  };
}

/** An entry takes some 200 bytes. Anonymous clients decide which ones are asked for. */
const MAX_ENTRIES = 1_000;

export class RememberedReads {
  #recent: { at: number; text: string | null; read: KvRead<Recent> } | undefined;
  readonly #entries = createBoundedMap<{ at: number; read: KvRead<Entry> }>(MAX_ENTRIES);

  /** @returns undefined where nothing fresh is remembered */
  recent(now: number): KvRead<Recent> | undefined {
    return isFresh(this.#recent, now) ? this.#recent.read : undefined;
  }

  /** @returns undefined where nothing fresh is remembered */
  entry(nftId: string, now: number): KvRead<Entry> | undefined {
    const kept = this.#entries.get(nftId);
    return isFresh(kept, now) ? kept.read : undefined;
  }

  /** @param at when the reading began, Unix milliseconds */
  keepRecent(text: string | null, at: number): KvRead<Recent> {
    const read = text === this.#recent?.text ? this.#recent.read : readRecent(text);
    // a clock that was set back will be at their times again
    if (this.#recent !== undefined && this.#recent.at - at > REMEMBER_MS) this.#entries.clear();
    this.#recent = { at, text, read };
    return read;
  }

  /** @param at when the reading began, Unix milliseconds */
  keepEntry(nftId: string, text: string | null, at: number): KvRead<Entry> {
    const read = readEntry(nftId, text);
    this.#entries.set(nftId, { at, read });
    return read;
  }
}

/** A read is not fresh if the clock went back since. */
function isFresh<T extends { at: number }>(kept: T | undefined, now: number): kept is T {
  return kept !== undefined && now >= kept.at && now - kept.at < REMEMBER_MS;
}
