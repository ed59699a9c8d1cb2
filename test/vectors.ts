/** The recorded vectors in test/vectors. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

const folder = join(import.meta.dirname, 'vectors');

/** The JSON lines of `test/vectors/<name>.gz`. */
export function readLines(name: string): unknown[] {
  const text = gunzipSync(readFileSync(join(folder, `${name}.gz`))).toString('utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** The JSON in `test/vectors/<name>`. */
export function readJson(name: string): unknown {
  return JSON.parse(readFileSync(join(folder, name), 'utf8'));
}
