/**
 * Data folders made of back-ups (back-up.ts).
 */
import { copyFileSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { reportHeld } from '../lib/import/import-snapshot.ts';
import { errorMessage } from '../lib/process/command-line.ts';
import {
  localDatabasePath,
  makeDataFolder,
  makePrivateFile,
  openLedger,
} from '../lib/wrangler/local-database.ts';
import type { WranglerConfig } from '../lib/wrangler/wrangler-config.ts';
import { syncToDisk } from './back-up.ts';

/**
 * Makes the folder, and prints what it holds. The folder appears once it is complete: a kill leaves
 * `DIR.partial`, which the next call removes. Throws an Error with a sentence if the folder is in
 * use or the file is no back-up.
 */
export async function restore(
  file: string,
  persistTo: string,
  config: WranglerConfig,
): Promise<void> {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new Error(`${file}: there is no such file`);
  requireUnused(persistTo);
  const partial = `${persistTo}.partial`;
  rmSync(partial, { recursive: true, force: true });
  const path = localDatabasePath(partial, config);
  makeDataFolder(dirname(path));
  makePrivateFile(path);
  copyFileSync(file, path);
  try {
    const db = await openLedger(partial, config);
    try {
      await reportHeld(db);
    } finally {
      db.close();
    }
  } catch (error) {
    rmSync(partial, { recursive: true });
    throw new Error(`${file} cannot be restored: ${errorMessage(error)}`, { cause: error });
  }
  syncToDisk(path);
  renameSync(partial, persistTo);
  console.log(`restored to   ${persistTo}`);
}

/** Throws an Error with a sentence unless the folder is absent or empty. */
function requireUnused(folder: string): void {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isDirectory() || readdirSync(folder).length > 0)
    throw new Error(`${folder} is not empty: name a new folder by --persist-to`);
}
