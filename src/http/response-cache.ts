/**
 * A cache of the white flag's 200s, behind a small interface.
 *
 * Only pure functions of the request may be kept here. A 200 of the white flag is one: the parents
 * fix the cone, and the previous milestone fixes the ledger. That holds across imports, networks
 * and pruning. It does not hold across versions of this Worker, as a version may be wrong. Clients
 * still see `no-store`: this copy is the Worker's own.
 */
import { createBoundedMap } from '../bounded-map.ts';
import { createDataCentreCache, type DataCentreCache } from '../data-centre-cache.ts';
import type { Settings } from '../settings.ts';

export interface ResponseCache {
  /** The body kept under the key. Neither call rejects. */
  match(key: string): Promise<string | undefined>;
  put(key: string, body: string): Promise<void>;
}

/** For the Cache API: a coordinator asks again within seconds. */
const MAX_AGE_SECONDS = 3600;

/** Some 3,000 answers. */
const MAX_MEMORY_BYTES = 4_000_000;

/** A key and its place in the map, without the key's and the body's characters. */
const OVERHEAD_BYTES = 200;

/**
 * The cache of this isolate's requests.
 *
 * Where one isolate answers all of them it is memory: miniflare keeps what is put into the Cache
 * API in files and evicts nothing. Elsewhere it is the data centre's cache, under the version's ID,
 * or none where that is not bound.
 */
export function openResponseCache(
  { oneIsolate, versionId }: Pick<Settings, 'oneIsolate' | 'versionId'>,
  storage: Pick<CacheStorage, 'default'>,
): ResponseCache {
  if (oneIsolate) return createMemoryCache(MAX_MEMORY_BYTES);
  return versionId === undefined ? NO_CACHE : new CacheApi(storage.default, versionId);
}

const NO_CACHE: ResponseCache = {
  match: async () => undefined,
  put: async () => {},
};

/**
 * The data centre's cache. It takes GET URLs as keys, so the key becomes the query of one; nothing
 * is ever fetched from there.
 */
export class CacheApi implements ResponseCache {
  readonly #cache: DataCentreCache;
  readonly #prefix: string;

  /** @param versionId of the Worker's version: no other version reads what this one has put */
  constructor(cache: Cache, versionId: string) {
    this.#cache = createDataCentreCache({
      open: () => cache,
      maxAgeSeconds: MAX_AGE_SECONDS,
      failureEvent: 'white-flag.uncached',
    });
    this.#prefix = `https://white-flag.invalid/?version=${encodeURIComponent(versionId)}&`;
  }

  match(key: string): Promise<string | undefined> {
    return this.#cache.match(this.#prefix + key);
  }

  put(key: string, body: string): Promise<void> {
    return this.#cache.put(this.#prefix + key, body);
  }
}

/** @param maxBytes of all keys and bodies, which must be ASCII, with some overhead for each */
function createMemoryCache(maxBytes: number): ResponseCache {
  const bodies = createBoundedMap<string>(
    maxBytes,
    (key, body) => OVERHEAD_BYTES + key.length + body.length,
  );
  return {
    match: async (key) => bodies.get(key),
    put: async (key, body) => bodies.set(key, body),
  };
}
