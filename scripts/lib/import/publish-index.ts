/**
 * Puts all NFTs of the local ledger into the local KV namespace. The publisher is the Worker's own,
 * run until it has nothing left to do. A process of its own: local-index.ts says why.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { openIndexLedger } from '../../../src/nft-index/d1-ledger.ts';
import { publishTo } from '../../../src/nft-index/publish.ts';
import { openLocalDatabase } from '../wrangler/local-database.ts';
import { withLocalKv } from '../wrangler/local-kv.ts';
import { readWranglerConfig } from '../wrangler/wrangler-config.ts';

/** No platform counts here. */
const BUDGET = { operations: 100_000, statements: 100_000 };

/** How often it tries again where the publisher has to wait, and after how many milliseconds. */
const ATTEMPTS = 50;
const PAUSE_MS = 300;

const persistTo = process.argv[2]!;
const config = readWranglerConfig();
const db = await openLocalDatabase(persistTo, config);
try {
  await withLocalKv(persistTo, config, async (store) => {
    const ledger = openIndexLedger(db);
    for (let i = 0; i < ATTEMPTS; i++) {
      if (i > 0) await sleep(PAUSE_MS);
      if ((await publishTo(ledger, store, Date.now, BUDGET)).done) return;
    }
    throw new Error('the publisher does not come to an end');
  });
} finally {
  db.close();
}
