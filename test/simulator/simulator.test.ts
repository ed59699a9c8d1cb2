/**
 * The whole node in virtual time (CONTRIBUTING.md#the-simulator): fixed seeds, each of which is a
 * story of at least thirty milestones. `npm run test:slow -- simulator` runs an hour of fresh ones.
 */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { PROJECT } from '../../cli/lib/project.ts';

/** As long as a busy machine takes; they take 20 s of CPU. */
const TIMEOUT_MS = 900_000;

/** Stories of each kind and each size of limits. */
const SEEDS = ['2', '4', '5', '8', '14-16', '24', '37'];

/** Stories that failed once, by the names of their files. */
const STORIES = join(PROJECT, 'test/simulator/stories');
const kept = readdirSync(STORIES).flatMap((name) => ['--story', join(STORIES, name)]);

test(
  'fixed seeds: every answer is right, and the node comes to rest',
  async () => {
    const run = join(PROJECT, 'test/simulator/run.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [run, ...kept, ...SEEDS]).catch(
      // what it says of a story that failed is the message
      ({ stdout }: { stdout: string }) => ({ stdout }),
    );
    expect(stdout).toMatch(new RegExp(`${9 + kept.length / 2} stories, .*: 0 failed`));
  },
  TIMEOUT_MS,
);
