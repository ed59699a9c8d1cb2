/**
 * Snapshot files on this machine, as streams.
 */
import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import type { SnapshotFile } from '../../src/stardust/snapshot.ts';

/** Bytes read at once. */
const CHUNK_BYTES = 1 << 18;

/**
 * Throws an Error with a sentence if there is no such file.
 *
 * @param atEnd called with the hex SHA-256 of the file once all of it was read; if it throws, so
 * does the read of the end
 */
export function openSnapshotFile(path: string, atEnd?: (sha256: string) => void): SnapshotFile {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new Error(`${path}: there is no such file`);
  if (!stats.isFile()) throw new Error(`${path}: not a file`);
  const chunks = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  return {
    size: stats.size,
    // the time of the last change cannot be set, as that of the content can
    version: `${stats.ino} ${stats.ctimeMs}`,
    chunks: atEnd === undefined ? chunks : hashed(chunks, atEnd),
  };
}

async function* hashed(
  chunks: AsyncIterable<Uint8Array>,
  atEnd: (sha256: string) => void,
): AsyncGenerator<Uint8Array, void> {
  const hash = createHash('sha256');
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
  atEnd(hash.digest('hex'));
}
