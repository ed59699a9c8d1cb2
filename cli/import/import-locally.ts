/**
 * Imports a snapshot into the databases on this machine.
 */

import type { Database } from '../../src/ledger/core/database.ts';
import { fillIndex, STEP_OUTPUTS } from '../../src/ledger/output-list/fill-index.ts';
import type { IndexSettings } from '../../src/ledger/output-list/indexed-kinds.ts';
import { checkReplacement, readServed } from '../lib/import/check-replacement.ts';
import { type ImportRequest, importSnapshot, printHeld } from '../lib/import/import-snapshot.ts';
import { ProgressBar } from '../lib/import/progress-bar.ts';
import { publishLocally } from '../lib/import/publish-index.ts';
import { holdAlone, unlessServed } from '../lib/wrangler/hold-folder.ts';
import { openLocalDatabase, readMigrations } from '../lib/wrangler/local-database.ts';
import type { WranglerConfig } from '../lib/wrangler/wrangler-config.ts';

/** A ledger of up to this many outputs has its NFTs written to KV at once, which takes seconds. */
const MOST_PUBLISHED = 10_000;

/** @param settings by which the lists have every kind of output, or NFTs alone */
export async function importLocally(
  request: ImportRequest,
  persistTo: string,
  config: WranglerConfig,
  settings: IndexSettings,
): Promise<void> {
  // of two at once, one would serve what the other has staged in part
  using _alone = holdAlone(persistTo, 'import');
  const db = await openLocalDatabase(persistTo, config);
  try {
    // it would not convert again what this one imports
    if ((await readMigrations(db)).newer.length > 0)
      throw new Error(`${persistTo} is of a newer release: import with that one`);
    const { outputs } = await importSnapshot(db, request, {
      indexAll: settings.indexAll,
      async beforeReplacing({ ledgerIndex: ledger, currentParameters, ...staged }, stateHash) {
        const held = { ...staged, ledger, network: currentParameters.networkName };
        printHeld(held, stateHash);
        await checkReplacement(await readServed(db), held, request.mayReplace);
      },
    });
    await unlessServed(persistTo, 'fills its indexes', async () => {
      await indexOutputs(db, settings, outputs);
      if (outputs <= MOST_PUBLISHED) await publishLocally(persistTo);
      else
        console.log('The NFT index in KV is left to the follower to fill; D1 answers until then.');
    });
  } finally {
    db.close();
  }
}

/** Fills the index of every kind of output where it is wanted, as the follower would. */
async function indexOutputs(db: Database, settings: IndexSettings, outputs: number): Promise<void> {
  const bar = new ProgressBar('rows');
  try {
    for (let done = 0; !(await fillIndex(db, settings)); done += STEP_OUTPUTS)
      bar.show('Indexing', Math.min(done, outputs), outputs);
  } finally {
    bar.clear();
  }
}
