/**
 * The NFT index in the local KV namespace, the one that `wrangler dev --persist-to DIR` serves from.
 */
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import type { Database } from '../../src/ledger/rows.ts';
import { openIndexLedger } from '../../src/nft-index/d1-ledger.ts';
import type { IndexStore } from '../../src/nft-index/ports.ts';
import { publishTo } from '../../src/nft-index/publish.ts';
import { persistPath } from './local-database.ts';
import type { WranglerConfig } from './wrangler-config.ts';

/** No platform counts here. */
const BUDGET = { operations: 100_000, statements: 100_000 };

/** Milliseconds to the next try where the publisher has to wait. */
const PAUSE = 300;
const ATTEMPTS = 50;

/** Projects the whole ledger into the index: the publisher that the Worker has, run to its end. */
export async function publishLocally(db: Database, persistTo: string, config: WranglerConfig): Promise<void> {
  const miniflare = new Miniflare({
    ...convertV4MiniflareOptions({
      modules: true,
      script: 'export default {}',
      kvNamespaces: { NFT_INDEX: config.localNamespaceId },
      cf: false,
    }),
    resourcePersistencePath: persistPath(persistTo),
  });
  try {
    // miniflare's types refer to a package that is not installed
    const store = (await miniflare.getKVNamespace('NFT_INDEX')) as unknown as IndexStore;
    for (let i = 0; i < ATTEMPTS; i++) {
      if ((await publishTo(openIndexLedger(db), store, Date.now, BUDGET)).done) return;
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
    throw new Error('the NFT index could not be put into KV');
  } finally {
    await miniflare.dispose();
  }
}
