/** Reads with plain fetch: copies are revalidated by their ETag, and each status is handled. */
const NODE = 'http://127.0.0.1:8787';
const copies = new Map<string, { etag: string; json: unknown }>();
// requires nothing, but makes tags last as long as the object is the same
const ANY = { 'X-Min-Ledger-Index': '0' };

/** The JSON of a path; undefined if the node does not know what it names. */
async function read(path: string): Promise<unknown> {
  const copy = copies.get(path);
  for (const pause of [1, 2, 4]) {
    const response = await fetch(NODE + path, {
      headers: copy === undefined ? ANY : { ...ANY, 'If-None-Match': copy.etag },
      signal: AbortSignal.timeout(10_000),
    }).catch(() => undefined);
    switch (response?.status) {
      case 200: {
        const json: unknown = await response.json();
        copies.set(path, { etag: response.headers.get('ETag') ?? '', json });
        return json;
      }
      case 304: // still true, at the ledger index in X-Ledger-Index
        return copy?.json;
      case 404: // never minted, burned, or pruned
        return undefined;
      case 429: // too many requests
      case 500: // the node is not certain
      case 503: // it cannot answer now
      case undefined: {
        const wait = response?.headers.get('Retry-After') ?? ''; // seconds, or a date
        const seconds = /^\d+$/.test(wait) ? Number(wait) : pause;
        await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
        break;
      }
      default: // 400, 401, 403, 405: the same request fails again
        throw new Error(`${response?.status}: ${response?.headers.get('X-Error-Detail')}`);
    }
  }
  throw new Error(`${NODE} does not answer now: use another node`);
}

const path = '/api/edge/v1/nfts/0x0255e84806dc0be4c149f11753a93fe2b6bd79a659649a0b238f8e2af1785aa7';
const nft = await read(path);
console.log('the copy is still true:', (await read(path)) === nft);
console.log('an NFT that was never minted:', await read(`${path.slice(0, -4)}0000`));
await read('/api/edge/v1/nfts/0x12').catch((error: Error) => console.log(error.message));
