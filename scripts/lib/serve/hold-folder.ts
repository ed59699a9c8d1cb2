/**
 * One process a data folder: whoever serves from it holds a lock that the system takes back when
 * the process ends, however it ends. Node has no locks of files of its own; SQLite has.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeDataFolder } from '../wrangler/local-database.ts';

/** SQLITE_BUSY: https://www.sqlite.org/rescode.html#busy */
const BUSY = 5;

/**
 * Makes the folder, if need be, and holds it until this process ends. Throws an Error with a
 * sentence if another process holds it. The lock must be kept: it ends when it is collected.
 */
export function holdFolder(folder: string): DatabaseSync {
  makeDataFolder(folder);
  const lock = new DatabaseSync(join(folder, 'serve.lock'), { timeout: 0 });
  try {
    // in memory: nothing is ever written
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode !== BUSY) throw error;
    const sentence = `${folder} is being served by another npm run serve`;
    throw new Error(`${sentence}: stop it, or name another folder by --persist-to`, {
      cause: error,
    });
  }
  return lock;
}
