/**
 * Writes src/stardust/tree-hasher/compress-block.ts; a test says when it is not up to date.
 * `npm run generate-tree-hasher`
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compressBlockSource } from './tree-hasher/compress-block-source.ts';

const file = join(import.meta.dirname, '../src/stardust/tree-hasher/compress-block.ts');
writeFileSync(file, compressBlockSource());
