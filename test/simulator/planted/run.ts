/**
 * Plants mistakes (plants.ts) and has the simulator look for them, one after the other, by fresh
 * seeds and without a hint.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runMain, UsageError } from '../../../cli/lib/process/command-line.ts';
import { runNode, runStories, ScratchCopy, type Told } from '../scratch-copy.ts';
import { PLANTS, type Plant } from './plants.ts';

const USAGE = `Usage: node tools/run.js test/simulator/planted/run.ts [options] [NAME…]

Runs the simulator with each of the planted mistakes, or with those that are named (a name, or the
beginning of some), until it finds the mistake. Prints a table: seconds of CPU until it was found,
and the entries that are left of its story. Exit status 1 if one was not found.

  --stories N   for each mistake (default: 660, as many as two cores run in ten minutes)
  --shrink-seconds N  to shrink its story (default: 60)
  --workers N   processes at once (default: 2)
  --seed N      the first seed (default: by the clock)
  --judge FILE  a build of tools/judge, for rules misread; without it, one is made each time`;

interface Found {
  plant: Plant;
  /** Of CPU, without shrinking. */
  seconds: number;
  stories: number;
  failure: Told | undefined;
}

interface Options {
  stories: string;
  'shrink-seconds': string;
  workers: string;
  seed: string;
  judge: string | undefined;
}

async function look(plant: Plant, folder: string, options: Options): Promise<Found> {
  const lookBy = plant.by === 'reference' ? lookByReference : lookBySimulator;
  return { plant, ...(await lookBy(plant, folder, options)) };
}

type Sight = Omit<Found, 'plant'>;

async function lookBySimulator(
  { name, changes }: Plant,
  folder: string,
  { stories: most, workers, seed, 'shrink-seconds': shrinkSeconds }: Options,
): Promise<Sight> {
  const seeds = `${seed}-${Number(seed) + Number(most) - 1}`;
  const options = ['--shrink-seconds', shrinkSeconds, '--workers', workers, seeds];
  const patches = changes.map((change) => ({ name, ...change }));
  const { code, text, stories } = (await runStories(folder, patches, options))!;
  // wrong use, or an error in the simulator itself, is no finding
  if (code !== 0 && code !== 1)
    throw new Error(`${name}: the simulator ended with ${code}: ${text}`);
  const cpuMs = stories.reduce((sum, each) => sum + each.cpuMs, 0);
  return {
    seconds: Math.round(cpuMs / 1000),
    stories: stories.length,
    failure: stories.find(({ ok }) => !ok),
  };
}

/** Networks one after the other, until a network differs. */
async function lookByReference(
  { name, changes: [change] }: Plant,
  folder: string,
  { stories: most, seed, judge }: Options,
): Promise<Sight> {
  const copy = new ScratchCopy(join(folder, name));
  const { file, text, instead } = change!;
  const began = performance.now();
  const program = judge === undefined ? [] : ['--judge', judge];
  const reference = 'test/simulator/reference/run.ts';
  return copy.with(
    file,
    (source) => source.replace(text, () => instead),
    async () => {
      for (let stories = 1; ; stories++) {
        const network = String(Number(seed) + stories);
        const { code, text } = (await runNode([reference, ...program, network], copy.folder))!;
        if (code === 0 && stories < Number(most)) continue;
        const cpuMs = Math.round(performance.now() - began);
        const [message = ''] = text.split('\n');
        const failure = { seed: network, ok: false, kind: 'difference', message, cpuMs };
        const seconds = Math.round(cpuMs / 1000);
        return { seconds, stories, failure: code === 1 ? failure : undefined };
      }
    },
  );
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
      stories: { type: 'string', default: '660' },
      'shrink-seconds': { type: 'string', default: '60' },
      workers: { type: 'string', default: '2' },
      judge: { type: 'string' },
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
      const found = await look(plant, folder, { judge: undefined, ...values });
      if (found.failure === undefined) missed++;
      console.log(rowOf(found));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  console.log(`\n${plants.length - missed} of ${plants.length} found`);
  return missed > 0 ? 1 : 0;
});
