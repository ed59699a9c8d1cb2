/**
 * Snapshot files on disk, opened for reading.
 */
import { createReadStream, statSync } from 'node:fs';
import type { SnapshotFile } from '../../../src/stardust/snapshot/byte-stream.ts';

/** Bytes read at once. */
const CHUNK_BYTES = 1 << 18;

/** Throws an Error with a sentence if there is no such file. */
export function openSnapshotFile(path: string): SnapshotFile {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new Error(`${path}: there is no such file`);
  if (!stats.isFile()) throw new Error(`${path}: not a file`);
  return { size: stats.size, chunks: createReadStream(path, { highWaterMark: CHUNK_BYTES }) };
}
