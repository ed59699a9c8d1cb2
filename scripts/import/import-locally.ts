/**
 * Imports a snapshot into the databases on this machine.
 */

import {
  type ImportRequest,
  importSnapshot,
  networkOf,
  noteReplaced,
  reportHeld,
} from '../lib/import/import-snapshot.ts';
import { publishLocally } from '../lib/import/publish-index.ts';
import { openLocalDatabase } from '../lib/wrangler/local-database.ts';
import type { WranglerConfig } from '../lib/wrangler/wrangler-config.ts';

/** A ledger of up to this many outputs has its NFTs written to KV at once, which takes seconds. */
const MOST_PUBLISHED = 10_000;

export async function importLocally(
  request: ImportRequest,
  persistTo: string,
  config: WranglerConfig,
): Promise<void> {
  const db = await openLocalDatabase(persistTo, config);
  try {
    const before = await networkOf(db);
    await importSnapshot(db, request);
    noteReplaced(before, await networkOf(db));
    const { outputs } = await reportHeld(db);
    if (outputs <= MOST_PUBLISHED) await publishLocally(persistTo);
    else console.log('The NFT index in KV is left to the follower to fill; D1 answers until then.');
  } finally {
    db.close();
  }
}
