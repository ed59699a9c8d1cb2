/**
 * `node tools/run.js tools/bounds.ts`: writes docs/bounds.md from the constants in the code. A test
 * fails while that file is not what this writes.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runMain } from '../cli/lib/process/command-line.ts';
import { PROJECT } from '../cli/lib/project.ts';
import { describeBounds } from './bounds/describe-bounds.ts';

const USAGE = `Usage: node tools/run.js tools/bounds.ts

Writes docs/bounds.md: the rows of tools/bounds/rows.ts with the numbers of the constants that they
name.`;

await runMain(USAGE, (args) => {
  parseArgs({ args });
  writeFileSync(join(PROJECT, 'docs/bounds.md'), describeBounds());
  return 0;
});
