/**
 * A cache of the white flag's 200s, behind a small interface.
 *
 * Only pure functions of the request may be kept here. A 200 of the white flag is one: the parents
 * fix the cone, and the previous milestone fixes the ledger. That holds across imports, networks
 * and pruning. It does not hold across versions of this Worker, as a version may be wrong. Clients
 * still see `no-store`: this copy is the Worker's own.
 */
import type { Settings } from '../settings.ts';

export interface ResponseCache {
  /** The body kept under the key. */
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
  if (oneIsolate) return new MemoryCache(MAX_MEMORY_BYTES);
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
  readonly #cache: Cache;
  readonly #prefix: string;

  /** @param versionId of the Worker's version: no other version reads what this one has put */
  constructor(cache: Cache, versionId: string) {
    this.#cache = cache;
    this.#prefix = `https://white-flag.invalid/?version=${encodeURIComponent(versionId)}&`;
  }

  async match(key: string): Promise<string | undefined> {
    const response = await this.#cache.match(this.#prefix + key);
    return response?.text();
  }

  async put(key: string, body: string): Promise<void> {
    const headers = {
      'content-type': 'application/json',
      'cache-control': `public, max-age=${MAX_AGE_SECONDS}`,
    };
    await this.#cache.put(this.#prefix + key, new Response(body, { headers }));
  }
}

/** Memory, from which the answers that were not asked for longest are evicted. */
export class MemoryCache implements ResponseCache {
  readonly #maxBytes: number;
  /** Least recently used first. */
  readonly #bodies = new Map<string, string>();
  #bytes = 0;

  /** @param maxBytes of all keys and bodies, which must be ASCII, with some overhead for each */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes that are kept. */
  get bytes(): number {
    return this.#bytes;
  }

  async match(key: string): Promise<string | undefined> {
    const body = this.#bodies.get(key);
    if (body !== undefined) {
      this.#bodies.delete(key);
      this.#bodies.set(key, body);
    }
    return body;
  }

  async put(key: string, body: string): Promise<void> {
    this.#remove(key);
    this.#bodies.set(key, body);
    this.#bytes += bytesOf(key, body);
    for (const oldest of this.#bodies.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    const body = this.#bodies.get(key);
    if (body === undefined) return;
    this.#bodies.delete(key);
    this.#bytes -= bytesOf(key, body);
  }
}

function bytesOf(key: string, body: string): number {
  return OVERHEAD_BYTES + key.length + body.length;
}
