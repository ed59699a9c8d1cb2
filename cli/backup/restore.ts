/**
 * Data folders made of back-ups (back-up.ts).
 */
import { copyFileSync, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readStagingScript } from '../../src/ledger/import/staging-tables.ts';
import { reportHeld } from '../lib/import/import-snapshot.ts';
import { errorMessage } from '../lib/process/command-line.ts';
import { holdFolder, SERVE_LOCK } from '../lib/wrangler/hold-folder.ts';
import {
  localDatabasePath,
  makeDataFolder,
  makePrivateFile,
  openLocalDatabase,
  persistPath,
} from '../lib/wrangler/local-database.ts';
import type { WranglerConfig } from '../lib/wrangler/wrangler-config.ts';
import { syncToDisk } from './back-up.ts';

/** In the folder, until it is whole. */
const PARTIAL = 'restore.partial';

/** What a folder may have: of an interrupted restore, and of a disk's root. */
const UNUSED = [SERVE_LOCK, PARTIAL, 'lost+found'];

const CHECK = 'SELECT quick_check, page_size FROM pragma_quick_check, pragma_page_size';

/**
 * Fills the folder in one step, and prints what it holds. The folder itself stays as it is: it may
 * be a volume. A kill leaves a part, which the next call removes. Throws an Error with a sentence if
 * the folder is in use or the file is no back-up.
 */
export async function restore(
  file: string,
  persistTo: string,
  config: WranglerConfig,
): Promise<void> {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new Error(`${file}: there is no such file`);
  const isNew = requireUnused(persistTo);
  const lock = holdFolder(persistTo);
  const partial = join(persistTo, PARTIAL);
  let isWhole = false;
  try {
    rmSync(partial, { recursive: true, force: true });
    await fill(partial, file, config);
    renameSync(persistPath(partial), persistPath(persistTo));
    isWhole = true;
  } catch (error) {
    throw new Error(`${file} cannot be restored: ${errorMessage(error)}`, { cause: error });
  } finally {
    lock.close();
    // another command may have put a ledger into the new folder meanwhile
    const isUnused = isNew && !isWhole && !existsSync(persistPath(persistTo));
    rmSync(isUnused ? persistTo : partial, { recursive: true, force: true });
  }
  console.log(`restored to   ${persistTo}`);
}

async function fill(folder: string, file: string, config: WranglerConfig): Promise<void> {
  const path = localDatabasePath(folder, config);
  makeDataFolder(dirname(path));
  makePrivateFile(path);
  copyFileSync(file, path);
  const db = await openLocalDatabase(folder, config);
  try {
    // pages that the state hash does not read, except what is missing of the last one
    const checked = await db.prepare(CHECK).first<{ quick_check: string; page_size: number }>();
    if (checked?.quick_check !== 'ok') throw new Error(`damaged: ${checked?.quick_check}`);
    if (statSync(file).size % checked.page_size !== 0) throw new Error('damaged: it ends early');
    // of an import that was given up, or was under way
    for (const sql of (await readStagingScript(db)).drop) db.exec(sql);
    await reportHeld(db);
  } finally {
    db.close();
  }
  syncToDisk(path);
}

/** Whether there is no folder. Throws an Error with a sentence if there is one that is in use. */
function requireUnused(folder: string): boolean {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats === undefined) return true;
  if (!stats.isDirectory() || readdirSync(folder).some((name) => !UNUSED.includes(name)))
    throw new Error(`${folder} is not empty: name a new folder by --persist-to`);
  return false;
}
