/**
 * Import into the databases on this machine.
 */
import {
  type ImportRequest,
  importSnapshot,
  networkOf,
  noteReplaced,
  reportHeld,
} from './import-snapshot.ts';
import { openLocalDatabase } from './local-database.ts';
import { publishLocally } from './local-index.ts';
import type { WranglerConfig } from './wrangler-config.ts';

/** Outputs up to which KV is filled at once, in seconds. */
const FILL_INDEX_UP_TO = 10_000;

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
    if (outputs <= FILL_INDEX_UP_TO) await publishLocally(persistTo);
    else console.log('The NFT index in KV is left to the follower to fill; D1 answers until then.');
  } finally {
    db.close();
  }
}
