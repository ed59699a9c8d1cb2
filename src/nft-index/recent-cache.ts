/**
 * `recent` in the data centre's cache (Cache API): for {@link RECENT_CACHE_S} seconds, lookups
 * there read it without a read of KV, which is billed.
 *
 * A copy out of the cache is a copy like any other, only older. `recent` itself says when it was
 * published, and no answer comes from one that is too old, whatever kept it
 * (docs/nft-index.md).
 *
 * A cached `recent` must never meet the entries of another KV namespace: where the namespace that
 * is bound was exchanged, an entry's absence proves nothing. Bindings change only with the Worker's
 * version, so the version's ID is part of the cache key, and without it nothing is cached. The
 * cache has a name of its own, so that no response to a client's request can stand in it.
 *
 * `npm run serve` goes without: there any `Host` of a request would be a file more on disk.
 *
 * The Cache API works by host, and has no effect on workers.dev
 * (https://developers.cloudflare.com/workers/runtime-apis/cache/).
 */
import { createDataCentreCache } from '../platform/data-centre-cache.ts';
import { RECENT_CACHE_S } from './timing-assumptions.ts';

/** What lookups need of the cache. Neither call rejects. */
export interface RecentCache {
  /** The text of `recent`; undefined where none is cached. */
  match(): Promise<string | undefined>;
  put(text: string): Promise<void>;
}

/** @param url the request's; undefined: its host has no cache */
export type OpenRecentCache = (url: string) => RecentCache | undefined;

/** @param versionId of the Worker's version; undefined where that is not bound */
export function createRecentCaches(
  storage: CacheStorage,
  versionId: string | undefined,
): OpenRecentCache {
  const cache = createDataCentreCache({
    open: () => storage.open('nft-index'),
    maxAgeSeconds: RECENT_CACHE_S,
    failureEvent: 'nft-index.uncached',
  });
  return (url) => {
    if (versionId === undefined || cache.hasFailed) return undefined;
    const { origin, hostname } = new URL(url);
    if (hostname.endsWith('.workers.dev')) return undefined;
    const key = `${origin}/recent?version=${encodeURIComponent(versionId)}`;
    return { match: () => cache.match(key), put: (text) => cache.put(key, text) };
  };
}
