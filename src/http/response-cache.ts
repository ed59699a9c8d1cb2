/**
 * A cache of answers that are true for ever, behind a small interface.
 *
 * Only pure functions of the request may be kept here. A 200 of the white flag is one: the parents
 * fix the cone, and the previous milestone fixes the ledger. That holds across imports, networks
 * and pruning. Clients still see `no-store`: this copy is the Worker's own.
 */
export interface ResponseCache {
  /** The body kept under the key. */
  match(key: string): Promise<string | undefined>;
  put(key: string, body: string): Promise<void>;
}

/**
 * The data centre's cache. It takes GET URLs as keys, so the key becomes the query of one; nothing
 * is ever fetched from there.
 */
export class CacheApi implements ResponseCache {
  readonly #cache: Cache;

  constructor(cache: Cache) {
    this.#cache = cache;
  }

  async match(key: string): Promise<string | undefined> {
    const response = await this.#cache.match(urlOf(key));
    return response?.text();
  }

  async put(key: string, body: string): Promise<void> {
    const headers = {
      'content-type': 'application/json',
      'cache-control': 'public, max-age=31536000, immutable',
    };
    await this.#cache.put(urlOf(key), new Response(body, { headers }));
  }
}

function urlOf(key: string): string {
  return `https://white-flag.invalid/?${key}`;
}
