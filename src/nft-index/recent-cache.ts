/**
 * `recent` in the data centre's cache (Cache API): for {@link RECENT_CACHE_S} seconds, lookups
 * there do not read KV, which is billed. Such a copy is only older: `recent` says when it was
 * published, and none that is too old answers (docs/nft-index.md).
 *
 * A cached `recent` must never meet the entries of another KV namespace, where an absent entry
 * proves nothing. Bindings change only with the Worker's version, so its ID is part of the key, and
 * without it nothing is cached. The cache has its own name: no response to a client can be in it.
 * `npm run serve` goes without: any `Host` of a request would be a file more on disk.
 *
 * The Cache API works by host, and has no effect on workers.dev
 * (https://developers.cloudflare.com/workers/runtime-apis/cache/).
 */
import { createDataCentreCache } from '../platform/data-centre-cache.ts';
import { RECENT_CACHE_S } from './timing-assumptions.ts';

/** Cache of `recent`. Neither call rejects. */
export interface RecentCache {
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
