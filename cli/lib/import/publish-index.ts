/**
 * Puts all NFTs of the local ledger into the local KV namespace, the one that `wrangler dev
 * --persist-to DIR` serves from. The publisher is the Worker's own, run until it has nothing left
 * to do.
 *
 * KV is written by miniflare, which takes more memory than the rest of an import and starts a
 * server. Therefore a process of its own does it, which runs this file as its script.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { openIndexLedger } from '../../../src/nft-index/d1-ledger.ts';
import type { IndexStore } from '../../../src/nft-index/ports.ts';
import { publish } from '../../../src/nft-index/publish.ts';
import { startChild } from '../process/child.ts';
import { outliveReaders, reportError } from '../process/command-line.ts';
import { openLocalDatabase } from '../wrangler/local-database.ts';
import { readWranglerConfig } from '../wrangler/wrangler-config.ts';
import { ProgressBar } from './progress-bar.ts';

/** No platform limit applies here. */
const BUDGET = { operations: 100_000, statements: 100_000 };

const COUNT_NFTS = 'SELECT count(*) AS nfts FROM nft';

/** Retries while the publisher has to wait, and the milliseconds between them. */
const ATTEMPTS = 50;
const PAUSE_MS = 300;

/** Puts all NFTs of the local ledger into the index, in a process of its own. */
export async function publishLocally(persistTo: string): Promise<void> {
  const code = await startChild(import.meta.filename, [persistTo]).ended;
  if (code !== 0)
    throw new Error(
      `the ledger of ${persistTo} is there, but its NFT index could not be written to KV: ` +
        'the node that serves it does that, and D1 answers until then',
    );
}

async function publishHere(persistTo: string): Promise<void> {
  // imported here, so that the parent does not load miniflare
  const { withLocalKv } = await import('../wrangler/local-kv.ts');
  const config = readWranglerConfig();
  const bar = new ProgressBar('rows');
  const db = await openLocalDatabase(persistTo, config);
  try {
    await withLocalKv(persistTo, config, async (kv) => {
      const ledger = openIndexLedger(db);
      const { nfts } = (await db.prepare(COUNT_NFTS).first<{ nfts: number }>())!;
      let written = 0;
      const store: IndexStore = {
        get: (...args) => kv.get(...args),
        put(...args) {
          bar.show('Writing the NFT index', Math.min(written++, nfts), nfts);
          return kv.put(...args);
        },
      };
      for (let i = 0; i < ATTEMPTS; i++) {
        if (i > 0) await sleep(PAUSE_MS);
        if ((await publish(ledger, store, Date.now, BUDGET)).done) return;
      }
      throw new Error(`the publisher was not done after ${ATTEMPTS} attempts`);
    });
  } finally {
    bar.clear();
    db.close();
  }
}

if (import.meta.main) {
  outliveReaders();
  await publishHere(process.argv[2]!).catch((error: unknown) => {
    process.exitCode = reportError(error);
  });
}
