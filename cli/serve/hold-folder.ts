/**
 * The data folder of `npm run serve`: one process at a time, and no cache of an earlier one.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeDataFolder, makePrivateFile, persistPath } from '../lib/wrangler/local-database.ts';

/** SQLITE_BUSY: https://www.sqlite.org/rescode.html#busy */
const BUSY = 5;

/**
 * Makes the folder, if need be, and locks it until this process ends. Undefined if another process holds the lock. The caller must keep the result:
 * the lock ends when it is garbage-collected. It is SQLite's, as Node has no file locks of its own:
 * the system releases it however the process ends.
 */
function tryToHold(folder: string): DatabaseSync | undefined {
  makeDataFolder(folder);
  const path = join(folder, 'serve.lock');
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
  const sentence = `${folder} is being served by another process`;
  throw new Error(`${sentence}: stop it, or name another folder by --persist-to`);
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

/** Workerd does not start, and does not say why, if it cannot write. */
const MIN_FREE_BYTES = 1 << 20;

/** Throws an Error with a sentence if the folder's disk is full. */
export function requireSpace(folder: string): void {
  const probe = join(folder, 'space.probe');
  try {
    writeFileSync(probe, new Uint8Array(MIN_FREE_BYTES));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const sentence = `${folder} has no space left on its disk (${code})`;
    throw new Error(`${sentence}: free some, or name another folder by --persist-to`, {
      cause: error,
    });
  } finally {
    rmSync(probe, { force: true });
  }
}

/**
 * Removes miniflare's Cache API from the folder, which other runs may have left there: it has a
 * file for each answer that was put, and evicts nothing. `serve` does not use it.
 */
export function clearCache(persistTo: string): void {
  rmSync(join(persistPath(persistTo), 'cache'), { recursive: true, force: true });
}
