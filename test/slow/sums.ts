/**
 * Takes away each kind of check by which damage on disk is seen (test/simulator/planted/sums.txt),
 * in a copy of the project: the test that is named beside it must fail then. So none is there that
 * nothing needs: `npm run test:slow -- sums`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runMain } from '../../cli/lib/process/command-line.ts';
import { findProgram } from '../../cli/lib/runtime.js';
import { REMOVED_CHECKS } from '../simulator/planted/plants.ts';
import { runNode, ScratchCopy } from '../simulator/scratch-copy.ts';

const USAGE = `Usage: node tools/run.js test/slow/sums.ts [NAME…]

Takes away each check of stored data, or those that are named, and runs the test that must fail
then. Exit status 1 if one passes.`;

const VITEST = findProgram('vitest', 'vitest')!;

/** What vitest prints of a test that failed; a file that does not load is another matter. */
const FAILED = /^\s*Tests .*\b\d+ failed/m;

async function isSeen(tables: string, seenBy: string, folder: string): Promise<boolean> {
  const args = ['run', '--project', 'node', '--no-color', `test/${seenBy}.test.ts`];
  const env = { SLOW: '1', FLIPPED_ROWS: '4', FLIPPED_TABLES: tables, NO_COLOR: '1' };
  const { code, text } = (await runNode([VITEST, ...args], folder, { env }))!;
  if (code !== 0 && !FAILED.test(text)) throw new Error(text);
  return code !== 0;
}

await runMain(USAGE, async (names) => {
  const checks = REMOVED_CHECKS.filter(({ name }) => names.length === 0 || names.includes(name));
  const folder = mkdtempSync(join(tmpdir(), 'sums-'));
  let missed = 0;
  try {
    const copy = new ScratchCopy(join(folder, 'project'));
    for (const { by, changes, wrong } of checks) {
      const [tables = '', seenBy = ''] = by?.split('; ') ?? [];
      const look = changes.reduceRight<() => Promise<boolean>>(
        (next, { file, text, instead }) =>
          () =>
            copy.with(file, (source) => source.replace(text, () => instead), next),
        () => isSeen(tables, seenBy, copy.folder),
      );
      const isFound = await look();
      if (!isFound) missed++;
      console.log(`${isFound ? 'seen' : 'NOT SEEN'} by ${seenBy}: ${wrong}`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return missed > 0 ? 1 : 0;
});
