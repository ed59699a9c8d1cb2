/** A snapshot file that HORNET extends in place while it is read. */
import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openSnapshotFile } from '../../cli/lib/snapshot-file.ts';

const MEGABYTE = new Uint8Array(1 << 20);

function write(): string {
  const folder = mkdtempSync(join(tmpdir(), 'snapshot-file-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'delta.bin');
  writeFileSync(path, MEGABYTE);
  return path;
}

async function readAll(chunks: AsyncIterable<Uint8Array>, meanwhile = (_read: number) => {}) {
  let read = 0;
  for await (const { length } of chunks) {
    read += length;
    meanwhile(read);
  }
  return read;
}

it('is read whole, and hashed', async () => {
  const seen: string[] = [];
  const { size, chunks } = openSnapshotFile(write(), (hash) => seen.push(hash));
  expect([size, await readAll(chunks)]).toEqual([MEGABYTE.length, MEGABYTE.length]);
  expect(seen).toEqual(['30e14955ebf1352266dc2ff8067e68104607e750abb9d3b36582b8af909fcb58']);
});

it.each([0, 1 << 18, MEGABYTE.length])(
  'is refused if it is written to after %s bytes',
  async (at) => {
    const path = write();
    const { chunks } = openSnapshotFile(path);
    const append = () => appendFileSync(path, MEGABYTE);
    if (at === 0) append();
    const reading = readAll(chunks, (read) => {
      if (read === at) append();
    });
    await expect(reading).rejects.toThrow('was written to while it was read');
  },
);

it('is read whole where another file is renamed over it meanwhile', async () => {
  const [path, next] = [write(), write()];
  const reading = readAll(openSnapshotFile(path).chunks, (read) => {
    if (read === 1 << 18) renameSync(next, path);
  });
  expect(await reading).toBe(MEGABYTE.length);
});

it('is refused if another file is renamed over it before it is opened', async () => {
  const [path, next] = [write(), write()];
  const { chunks } = openSnapshotFile(path);
  renameSync(next, path);
  await expect(readAll(chunks)).rejects.toThrow('was written to while it was read');
});
