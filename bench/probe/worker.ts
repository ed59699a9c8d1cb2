/**
 * The Worker that ours is compared with: it answers a constant, does one get of KV, or hashes nodes
 * of a Merkle tree, in the same runtime and as bundled as ours.
 */
import { DurableObject } from 'cloudflare:workers';
import { hashPair } from '../../src/stardust/proof/tree-hash.ts';

const CONSTANT = JSON.stringify({ ledgerIndex: 1, items: [`0x${'0'.repeat(68)}`] });

function hashNodes(count: number): void {
  const words = new Uint32Array(16);
  for (let i = 0; i < count; i++) hashPair(words, 0, 0);
}

/** The headers of every NFT answer (docs/contract.md#headers, docs/contract.md#caching). */
const NFT_HEADERS = {
  'content-type': 'application/json',
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'X-Ledger-Index, X-Error-Detail, ETag',
  'cache-control': 'public, max-age=5, stale-while-revalidate=10, stale-if-error=0',
  etag: 'W/"1-0000000000000000"',
  vary: 'x-min-ledger-index',
  'x-ledger-index': '1',
};

/** Does nothing. test/support/edge/serve.ts binds a class of this name. */
export class Follower extends DurableObject {}

export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const count = Number(searchParams.get('count'));
    switch (pathname) {
      case '/constant':
        return new Response(CONSTANT, { headers: { 'content-type': 'application/json' } });
      case '/headers':
        return new Response(CONSTANT, { headers: NFT_HEADERS });
      case '/kv': {
        const text = await env.NFT_INDEX.get(searchParams.get('key') ?? '', {
          type: 'text',
          cacheTtl: 30,
        });
        return new Response(text, { headers: { 'content-type': 'application/json' } });
      }
      case '/hash':
        hashNodes(count);
        return new Response();
      default:
        return new Response(null, { status: 404 });
    }
  },
} satisfies ExportedHandler<Pick<Env, 'NFT_INDEX'>>;
