/**
 * Rebuilding the NFT index. Without its row in D1 the publisher begins as after an import.
 */

import { publishLocally } from '../lib/import/publish-index.ts';
import { unlessServed } from '../lib/wrangler/hold-folder.ts';
import { openLedger } from '../lib/wrangler/local-database.ts';
import { type RunWrangler, runWrangler } from '../lib/wrangler/run-wrangler.ts';
import type { WranglerConfig } from '../lib/wrangler/wrangler-config.ts';

const FORGET_STATE = 'DELETE FROM nft_index';

/** Returns when all entries are in KV, or the node that serves the folder is left to write them. */
export async function reindexLocally(persistTo: string, config: WranglerConfig): Promise<void> {
  const db = await openLedger(persistTo, config);
  try {
    db.exec(FORGET_STATE);
  } finally {
    db.close();
  }
  await unlessServed(persistTo, 'writes all entries again, page by page', async () => {
    await publishLocally(persistTo);
    console.log('All entries were written.');
  });
}

/** Returns at once; the publisher of the deployed Worker then writes the entries, pass by pass. */
export async function reindexRemotely(
  { databaseName }: WranglerConfig,
  run: RunWrangler = runWrangler,
): Promise<void> {
  await run(['d1', 'execute', databaseName, '--remote', '--yes', '--command', FORGET_STATE]);
}
