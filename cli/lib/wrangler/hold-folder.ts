/**
 * Locks of a data folder: one process of this machine at a time serves it or writes its KV, one
 * imports into it, and one copies it.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeDataFolder, makePrivateFile } from './local-database.ts';

export const SERVE_LOCK = 'serve.lock';

/** SQLITE_BUSY: https://www.sqlite.org/rescode.html#busy */
const BUSY = 5;

/**
 * Makes the folder, if need be, and locks it until this process ends. Undefined if another process
 * holds the lock. The caller must keep the result: the lock ends when it is garbage-collected. It is
 * SQLite's, as Node has no file locks of its own: the system releases it however the process ends.
 */
function tryToHold(folder: string, lockFile = SERVE_LOCK): DatabaseSync | undefined {
  makeDataFolder(folder, lockFile);
  const path = join(folder, lockFile);
  makePrivateFile(path);
  const lock = new DatabaseSync(path, { timeout: 0 });
  try {
    // in memory: nothing is ever written
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode !== BUSY) throw error;
    return undefined;
  }
  return lock;
}

/** The same for `serve`. Throws an Error with a sentence if another process holds the lock. */
export function holdFolder(folder: string): DatabaseSync {
  const lock = tryToHold(folder);
  if (lock !== undefined) return lock;
  const sentence = `${folder} is in use by another process, such as serve`;
  throw new Error(`${sentence}: stop it, or name another folder by --persist-to`);
}

/** The same for a command of which each folder allows one. */
export function holdAlone(folder: string, command: 'import' | 'backup'): DatabaseSync {
  const lock = tryToHold(folder, `${command}.lock`);
  if (lock !== undefined) return lock;
  throw new Error(`another ${command} of ${folder} is under way: wait until it has ended`);
}

/**
 * Does the work while it holds the folder, so that no `serve` starts meanwhile: KV takes one writer.
 * If another process holds the folder, it says that the follower there does the work, and returns.
 */
export async function unlessServed(
  folder: string,
  what: string,
  work: () => Promise<void>,
): Promise<void> {
  const lock = tryToHold(folder);
  if (lock === undefined) {
    console.log(`The node that serves ${folder} ${what}; D1 answers until then.`);
    return;
  }
  try {
    await work();
  } finally {
    lock.close();
  }
}
