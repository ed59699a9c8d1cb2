/** The recorded vectors in test/vectors. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

const folder = join(import.meta.dirname, '../vectors');

let readFile = (name: string): Uint8Array => readFileSync(join(folder, name));

/** For where there is no disk: vectors-in-workerd.ts. */
export function readFilesBy(read: (name: string) => Uint8Array): void {
  readFile = read;
}

/** The bytes of `test/vectors/<name>.gz`. */
export function readVector(name: string): Buffer {
  return gunzipSync(readFile(`${name}.gz`));
}

/** The JSON lines of `test/vectors/<name>.gz`. */
export function readLines(name: string): unknown[] {
  const text = readVector(name).toString('utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** The JSON in `test/vectors/<name>`. */
export function readJson(name: string): unknown {
  return JSON.parse(new TextDecoder().decode(readFile(name)));
}
