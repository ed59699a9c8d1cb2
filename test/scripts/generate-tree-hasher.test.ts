/** The generated compression: what is committed is what the script makes. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { compressBlockSource } from '../../scripts/tree-hasher/compress-block-source.ts';

const FILE = 'src/stardust/tree-hasher/compress-block.ts';

it(`${FILE} is what \`npm run generate-tree-hasher\` makes`, () => {
  expect(readFileSync(FILE, 'utf8')).toBe(compressBlockSource());
});
