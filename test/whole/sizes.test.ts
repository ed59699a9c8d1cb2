/** README.md tells how large the core and each module are, to a tenth. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT } from '../../cli/lib/project.ts';
import { measureClosure, measureModules } from '../../tools/build/sizes.ts';

const README = readFileSync(join(PROJECT, 'README.md'), 'utf8');
const sizes = { core: measureClosure('core-worker.ts'), ...Object.fromEntries(measureModules()) };

it('has a row for each module', () => {
  const rows = Array.from(
    README.matchAll(/^\| (\w+) \|.*\| [\d,]+ \| [\d,]+ \|$/gm),
    ([, name]) => name,
  );
  expect(rows.sort()).toEqual(Object.keys(sizes).sort());
});

it.each(Object.entries(sizes))('%s', (name, { files, lines }) => {
  const row = new RegExp(`^\\| ${name} \\|.*\\| ([\\d,]+) \\| ([\\d,]+) \\|$`, 'm').exec(README);
  if (row === null) throw new Error(`README.md has no row of ${name}`);
  const [toldFiles, toldLines] = row.slice(1).map((text) => Number(text.replaceAll(',', '')));
  expect(Math.abs(toldFiles! - files), `${files} files`).toBeLessThanOrEqual(files / 10);
  expect(Math.abs(toldLines! - lines), `${lines} lines`).toBeLessThanOrEqual(lines / 10);
});

it.each([
  ['node/compute-white-flag.ts', 47],
  ['follower/apply-milestone.ts', 67],
  ['nft-index/look-up-nft.ts', 11],
] as const)('%s is understood from %d files at most', (entry, most) => {
  expect(measureClosure(entry).files).toBeLessThanOrEqual(most);
});
