/** The recorded vectors in test/vectors. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

const folder = new URL('./vectors/', import.meta.url);

/** The JSON lines of `test/vectors/<name>.gz`. */
export function readLines(name: string): unknown[] {
  const text = gunzipSync(readFileSync(new URL(`${name}.gz`, folder))).toString('utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** The JSON in `test/vectors/<name>`. */
export function readJson(name: string): unknown {
  return JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
}
