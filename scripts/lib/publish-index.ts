/**
 * Projects the whole local ledger into the local KV namespace, with the publisher that the Worker has, run to its end. A process of its own, see local-index.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { openIndexLedger } from '../../src/nft-index/d1-ledger.ts';
import type { IndexStore } from '../../src/nft-index/ports.ts';
import { publishTo } from '../../src/nft-index/publish.ts';
import { openLocalDatabase, persistPath } from './local-database.ts';
import { readWranglerConfig } from './wrangler-config.ts';

/** No platform counts here. */
const BUDGET = { operations: 100_000, statements: 100_000 };

/** Milliseconds to the next try where the publisher has to wait, and tries. */
const PAUSE = 300;
const ATTEMPTS = 50;

const persistTo = process.argv[2]!;
const config = readWranglerConfig();
const db = await openLocalDatabase(persistTo, config);
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
  let done = false;
  for (let i = 0; i < ATTEMPTS && !done; i++) {
    if (i > 0) await sleep(PAUSE);
    done = (await publishTo(openIndexLedger(db), store, Date.now, BUDGET)).done;
  }
  if (!done) throw new Error('the publisher does not come to an end');
} finally {
  db.close();
  await miniflare.dispose();
}
