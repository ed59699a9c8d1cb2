/**
 * The whole node in virtual time (CONTRIBUTING.md#the-simulator): fixed seeds, each of which is a
 * story of at least thirty milestones. `npm run test:slow -- simulator` runs an hour of fresh ones.
 */
import { execFile } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { PROJECT } from '../../cli/lib/project.ts';
import { temporaryFolder } from '../support/cli/script-process.ts';
import { PLANTS } from './planted/plants.ts';

/** As long as a busy machine takes. */
const TIMEOUT_MS = 900_000;

/** Stories of most kinds, and each size of limits. */
const SEEDS = ['11', '13', '17', '25', '33'];

/** Stories that failed once, by the names of their files: two thirds of them, all in test:slow. */
const STORIES = join(PROJECT, 'test/simulator/stories');
const kept = readdirSync(STORIES)
  .filter((_, i) => process.env.SLOW || i % 3 < 2)
  .flatMap((name) => ['--story', join(STORIES, name)]);

const folder = temporaryFolder();

/** Stories that fail are written to the folder. */
const run = (...args: string[]) =>
  promisify(execFile)(process.execPath, [join(PROJECT, 'test/simulator/run.ts'), ...args], {
    cwd: folder,
  });

test(
  'fixed seeds: every answer is right, and the node comes to rest',
  async () => {
    // what it says of a story that failed is the message
    const { stdout } = await run(...kept, ...SEEDS).catch((error: { stdout: string }) => error);
    expect(stdout).toMatch(new RegExp(`${SEEDS.length + kept.length / 2} stories, .*: 0 failed`));
  },
  TIMEOUT_MS,
);

/** They show in answers, in events, and in the ledger's state. */
const SHOWN = ['http-2', 'events-1', 'write-1'];

test.each(process.env.SLOW ? SHOWN : SHOWN.slice(0, 2))(
  'finds a planted mistake: %s',
  async (name) => {
    const patch = join(folder, `${name}.json`);
    const { changes } = PLANTS.find((plant) => plant.name === name)!;
    writeFileSync(patch, JSON.stringify(changes.map((change) => ({ name, ...change }))));
    const options = ['--patch', patch, '--no-shrink', '--stop'];
    const failed = await run(...options, '13-29').catch((error: { code: number }) => error);
    expect(failed).toMatchObject({ code: 1 });
  },
  TIMEOUT_MS,
);
