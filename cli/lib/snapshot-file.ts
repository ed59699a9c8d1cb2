/**
 * Snapshot files on this machine, as streams.
 */
import { createHash } from 'node:crypto';
import { type Stats, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { SnapshotFile } from '../../src/stardust/snapshot.ts';

/** Bytes read at once. */
const CHUNK_BYTES = 1 << 18;

/**
 * Throws an Error with a sentence if there is no such file. HORNET extends its delta snapshot in
 * place: a file that is written to while it is read is an Error as well.
 *
 * @param atEnd called with the hex SHA-256 of the file once all of it was read; if it throws, so
 * does the read of the end
 */
export function openSnapshotFile(path: string, atEnd?: (sha256: string) => void): SnapshotFile {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new Error(`${path}: there is no such file`);
  if (!stats.isFile()) throw new Error(`${path}: not a file`);
  const version = versionOf(stats);
  return { size: stats.size, version, chunks: readFile(path, version, atEnd) };
}

/** The time of the last change cannot be set, as that of the content can. */
const versionOf = ({ ino, size, ctimeMs }: Stats) => `${ino} ${size} ${ctimeMs}`;

async function* readFile(
  path: string,
  version: string,
  atEnd?: (sha256: string) => void,
): AsyncGenerator<Uint8Array, void> {
  await using file = await open(path);
  const hash = createHash('sha256');
  const opened = await file.stat();
  let isSame = versionOf(opened) === version;
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(CHUNK_BYTES));
    // not `ctime`: it changes when HORNET renames its next snapshot over the open file
    const { size, mtimeMs } = await file.stat();
    isSame &&= size === opened.size && mtimeMs === opened.mtimeMs;
    if (!isSame)
      throw new Error(`${path}: was written to while it was read; copy it, and import the copy`);
    if (bytesRead === 0) break;
    const chunk = buffer.subarray(0, bytesRead);
    if (atEnd !== undefined) hash.update(chunk);
    yield chunk;
  }
  atEnd?.(hash.digest('hex'));
}
