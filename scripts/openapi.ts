/**
 * `npm run openapi`: writes src/http/assets/openapi.json, which the Worker serves. A test fails
 * while that file is not what this writes.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runMain } from './lib/process/command-line.ts';
import { PROJECT } from './lib/project.ts';
import { buildDocument } from './openapi/document.ts';

const USAGE = `Usage: npm run openapi

Writes src/http/assets/openapi.json, the description of the API, from the schemas that check
requests.`;

await runMain(USAGE, (args) => {
  parseArgs({ args });
  const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
  const path = join(PROJECT, 'src/http/assets/openapi.json');
  writeFileSync(path, `${JSON.stringify(buildDocument(version), undefined, 2)}\n`);
  const biome = join(PROJECT, 'node_modules/.bin/biome');
  execFileSync(biome, ['format', '--write', path], { cwd: PROJECT, stdio: 'inherit' });
  return 0;
});
