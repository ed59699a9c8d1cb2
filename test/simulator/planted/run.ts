/**
 * Plants mistakes (plants.ts) and has the simulator look for them, one after the other, by fresh
 * seeds and without a hint.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runMain, UsageError } from '../../../cli/lib/process/command-line.ts';
import { PROJECT } from '../../../cli/lib/project.ts';
import { PLANTS, type Plant } from './plants.ts';

const USAGE = `Usage: npx node test/simulator/planted/run.ts [options] [NAME…]

Runs the simulator with each of the planted mistakes, or with those that are named (a name, or the
beginning of some), until it finds the mistake. Prints a table: seconds until it was found and
its story shrunk, and the entries that are left of that. Exit status 1 if one was not found.

  --seconds N   for each mistake (default: 600)
  --workers N   processes at once (default: 2)
  --seed N      the first seed (default: by the clock)`;

/** What the simulator says of a story that failed. */
interface Failure {
  seed: string;
  ok: boolean;
  kind?: string;
  message?: string;
  shrunkTo?: number;
}

interface Found {
  plant: Plant;
  seconds: number;
  stories: number;
  failure: Failure | undefined;
}

async function look(
  plant: Plant,
  folder: string,
  options: { seconds: string; workers: string; seed: string },
): Promise<Found> {
  const file = join(folder, `${plant.name}.json`);
  const { name, changes } = plant;
  writeFileSync(file, JSON.stringify(changes.map((change) => ({ name, ...change }))));
  const { workers, seed } = options;
  const args = [
    '--patch',
    file,
    '--stop',
    '--json',
    '--seconds',
    options.seconds,
    '--workers',
    workers,
  ];
  const began = performance.now();
  const simulator = join(PROJECT, 'test/simulator/run.ts');
  const child = spawn(process.execPath, [simulator, ...args, seed], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (data) => {
    text += data;
  });
  const [code] = await once(child, 'close');
  if (code !== 0 && code !== 1) throw new Error(`${name}: the simulator ended with ${code}`);
  const lines = text.split('\n').filter((line) => line.startsWith('{'));
  const stories = lines.map((line) => JSON.parse(line)).filter(({ seed }) => seed !== undefined);
  const failure: Failure | undefined = stories.find(({ ok }: Failure) => !ok);
  const seconds = Math.round((performance.now() - began) / 1000);
  return { plant, seconds, stories: stories.length, failure };
}

function rowOf({ plant, seconds, stories, failure }: Found): string {
  const found =
    failure === undefined
      ? ['NOT FOUND', '', '']
      : [failure.kind, failure.shrunkTo ?? '', (failure.message ?? '').slice(0, 110)];
  return `| ${[plant.name, plant.wrong, seconds, stories, ...found].join(' | ')} |`;
}

await runMain(USAGE, async (args) => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '600' },
      workers: { type: 'string', default: '2' },
      seed: { type: 'string', default: String(Math.floor(Date.now() / 1000) % 1_000_000) },
    },
  });
  const named = (plant: Plant) =>
    positionals.length === 0 || positionals.some((name) => plant.name.startsWith(name));
  const plants = PLANTS.filter(named);
  if (plants.length === 0) throw new UsageError('no planted mistake has such a name');
  const folder = mkdtempSync(join(tmpdir(), 'planted-'));
  let missed = 0;
  try {
    console.log('| mistake | what is wrong then | seconds | stories | found by | entries | said |');
    console.log('|---|---|---|---|---|---|---|');
    for (const plant of plants) {
      const found = await look(plant, folder, values);
      if (found.failure === undefined) missed++;
      console.log(rowOf(found));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  console.log(`\n${plants.length - missed} of ${plants.length} found`);
  return missed > 0 ? 1 : 0;
});
