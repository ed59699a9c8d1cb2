/**
 * `npm run generate-tree-hasher`: writes src/stardust/tree-hasher/compress-block.ts. A test fails
 * while that file is not what this writes.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runMain } from './lib/process/command-line.ts';
import { PROJECT } from './lib/project.ts';
import { compressBlockSource } from './tree-hasher/compress-block-source.ts';

const USAGE = `Usage: npm run generate-tree-hasher

Writes src/stardust/tree-hasher/compress-block.ts, the compression of the unrolled hasher.`;

await runMain(USAGE, (args) => {
  parseArgs({ args });
  const path = join(PROJECT, 'src/stardust/tree-hasher/compress-block.ts');
  writeFileSync(path, compressBlockSource());
  return 0;
});
