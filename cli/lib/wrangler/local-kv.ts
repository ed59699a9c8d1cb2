/**
 * The KV namespace of the NFT index on this machine: the one that `wrangler dev --persist-to DIR`
 * serves from, opened by miniflare.
 */
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import type { IndexStore } from '../../../src/nft-index/ports.ts';
import { persistPath } from './local-database.ts';
import type { WranglerConfig } from './wrangler-config.ts';

/** Works with the namespace, and ends miniflare whatever happens. */
export async function withLocalKv<T>(
  persistTo: string,
  { localNamespaceId }: WranglerConfig,
  work: (store: IndexStore) => Promise<T>,
): Promise<T> {
  const options = convertV4MiniflareOptions({
    modules: true,
    script: 'export default {}',
    kvNamespaces: { NFT_INDEX: localNamespaceId },
    cf: false,
  });
  const miniflare = new Miniflare({ ...options, resourcePersistencePath: persistPath(persistTo) });
  try {
    // miniflare's types refer to a package that is not installed
    return await work((await miniflare.getKVNamespace('NFT_INDEX')) as unknown as IndexStore);
  } finally {
    await miniflare.dispose();
  }
}
