/**
 * Imports a snapshot into the databases on this machine.
 */

import { checkReplacement, readServed } from '../lib/import/check-replacement.ts';
import { type ImportRequest, importSnapshot, printHeld } from '../lib/import/import-snapshot.ts';
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
    const { outputs } = await importSnapshot(db, request, {
      async beforeReplacing({ ledgerIndex: ledger, currentParameters, ...staged }, stateHash) {
        const held = { ...staged, ledger, network: currentParameters.networkName };
        printHeld(held, stateHash);
        await checkReplacement(await readServed(db), held, request.mayReplace);
      },
    });
    if (outputs <= MOST_PUBLISHED) await publishLocally(persistTo);
    else console.log('The NFT index in KV is left to the follower to fill; D1 answers until then.');
  } finally {
    db.close();
  }
}
