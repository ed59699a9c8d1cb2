/**
 * The whole node in virtual time (test/simulator/README.md): fixed seeds, each of which is a story
 * of at least thirty milestones.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { PROJECT } from '../../cli/lib/project.ts';

/** Stories of each kind and each size of limits. */
const SEEDS = ['2', '4', '5', '8', '14-16', '24', '37'];

test('stories of fixed seeds: every answer is right, and the node comes to rest', async () => {
  const run = join(PROJECT, 'test/simulator/run.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [run, '--no-shrink', ...SEEDS]);
  expect(stdout).toMatch(/9 stories, .*: 0 failed/);
});
