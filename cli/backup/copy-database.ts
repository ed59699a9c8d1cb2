/**
 * A copy of a SQLite database, of one moment, also while others write it. SQLite copies in one call,
 * which runs in a thread of its own, so that this one can tell how far it is.
 */
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

const LOOK_EVERY_MS = 200;

/** In text: a thread has neither the extension of this file nor that of a built folder. */
const COPY = `
const { workerData } = require('node:worker_threads');
const { DatabaseSync } = require('node:sqlite');
const db = new DatabaseSync(workerData.from, { timeout: 10_000 });
db.prepare('VACUUM INTO ?').run(workerData.to);
db.close();`;

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/**
 * Rejects with what SQLite throws.
 *
 * @param to a file that is empty or not there
 * @param onProgress is told bytes written, of as many as the database has at most
 */
export async function copyDatabase(
  from: string,
  to: string,
  onProgress: (done: number, total: number) => void,
): Promise<void> {
  const total = sizeOf(from);
  const tell = () => onProgress(Math.min(sizeOf(to), total), total);
  tell();
  const worker = new Worker(COPY, { eval: true, workerData: { from, to } });
  const timer = setInterval(tell, LOOK_EVERY_MS);
  try {
    // rejects with what the thread throws
    await once(worker, 'exit');
  } finally {
    clearInterval(timer);
  }
  onProgress(total, total);
}
