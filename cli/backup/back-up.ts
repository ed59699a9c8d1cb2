/**
 * Back-ups of a data folder: one SQLite file with everything that its D1 database has. KV is not in
 * it, as the NFT index is rebuilt from D1.
 */
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { reportHeld } from '../lib/import/import-snapshot.ts';
import { ProgressBar } from '../lib/import/progress-bar.ts';
import { holdAlone } from '../lib/wrangler/hold-folder.ts';
import { localDatabasePath, makePrivateFile, openLedger } from '../lib/wrangler/local-database.ts';
import { SqliteDatabase } from '../lib/wrangler/sqlite-database.ts';
import type { WranglerConfig } from '../lib/wrangler/wrangler-config.ts';
import { copyDatabase } from './copy-database.ts';

/**
 * Writes the back-up, and prints what it holds. The file appears once it is complete: a kill leaves
 * `FILE.partial`, which the next call removes. Throws an Error with a sentence if the folder has no
 * ledger or the file exists.
 */
export async function backUp(
  persistTo: string,
  file: string,
  config: WranglerConfig,
): Promise<void> {
  if (existsSync(file)) throw new Error(`${file} exists: name another file`);
  (await openLedger(persistTo, config)).close();
  using _alone = holdAlone(persistTo, 'backup');
  const partial = `${file}.partial`;
  rmSync(partial, { force: true });
  makePrivateFile(partial);
  const bar = new ProgressBar('bytes');
  try {
    await copyDatabase(localDatabasePath(persistTo, config), partial, (done, total) =>
      bar.show('Copying', done, total),
    );
    bar.clear();
    const copy = new SqliteDatabase(partial);
    try {
      await reportHeld(copy);
    } finally {
      copy.close();
    }
    syncToDisk(partial);
    renameSync(partial, file);
  } finally {
    bar.clear();
    // it may fill the disk that the node is served from
    rmSync(partial, { force: true });
  }
  console.log(`saved to      ${file}`);
}

/**
 * Returns once the file's content has reached the disk: renamed before, it may be empty after a
 * crash.
 */
export function syncToDisk(file: string): void {
  const descriptor = openSync(file, 'r+');
  fsyncSync(descriptor);
  closeSync(descriptor);
}
