/** The compile cache of `npm run serve`, after a full disk. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT } from '../../../cli/lib/project.ts';
import { temporaryFolder } from '../../support/cli/script-process.ts';

const SOURCE = join(PROJECT, 'cli', 'lib', 'process', 'compile-cache.ts');

it('what Node could not finish where the disk was full is removed at the next start', () => {
  const folder = temporaryFolder();
  const cache = join(folder, 'compile-cache', 'v26-x64');
  mkdirSync(cache, { recursive: true });
  for (const name of ['003be731', '003be731.bQOmeY', 'ffbe7312.0aZzz9'])
    writeFileSync(join(cache, name), '');
  const script = `(await import(${JSON.stringify(SOURCE)})).cacheCode(${JSON.stringify(folder)})`;
  execFileSync(process.execPath, ['--input-type=module', '--eval', script]);
  expect(readdirSync(cache)).toEqual(['003be731']);
});
