/**
 * Mutants of the follower, of what writes and reads the ledger for it, and of the NFT index: how
 * many the simulator's seeds kill, and how many of the others the unit tests do.
 */
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { runMain, UsageError } from '../../../cli/lib/process/command-line.ts';
import { PROJECT } from '../../../cli/lib/project.ts';
import { Random } from '../../support/network/random.ts';
import { bundleProduct, type Patch, PatchNotFound } from '../platform/bundle.ts';
import { isolateGlobals } from '../platform/globals.ts';
import { Simulation } from '../platform/simulation.ts';
import { runNode, runStories, ScratchCopy } from '../scratch-copy.ts';
import { type Mutation, mutationsOf } from './operators.ts';

const USAGE = `Usage: node tools/run.js test/simulator/mutants/run.ts [options] [SEEDS…]

Makes mutants, one after the other, and runs the simulator's stories with each: of these seeds
(FROM-TO), which must be right without mutants. With --units, those that live are run by the unit tests too.
Prints a line for each, and what share was killed.

  --count N        mutants, chosen at random among all (default: 100)
  --choice TEXT    what the choice depends on (default: 1)
  --units          runs the unit tests of the source's folder where no seed killed
  --only TEXT      mutants of files whose path has this in it; repeatable
  --list           prints how many mutants there are, by file, and does nothing`;

const FILES = 'src/{follower/**,ledger/{write,view,intake},nft-index}/*.ts';

/** A mutant may make a test wait for ever. */
const UNITS_SECONDS = 400;

/** The folder of the unit tests of a source: of the same path, as far as there is one. */
function unitsOf(file: string): string {
  let folder = dirname(file.replace('src/', 'test/'));
  while (!existsSync(join(PROJECT, folder))) folder = dirname(folder);
  return folder;
}

interface Mutant extends Mutation {
  file: string;
}

/** `fault`: the simulator itself fails with it. */
type Fate = 'seeds' | 'fault' | 'hung' | 'units' | 'LIVES';

function allMutants(only: readonly string[]): Mutant[] {
  return globSync(FILES, { cwd: PROJECT })
    .filter((file) => only.some((part) => file.includes(part)) && !file.endsWith('-stub.ts'))
    .sort()
    .flatMap((file) =>
      mutationsOf(file, readFileSync(join(PROJECT, file), 'utf8')).map((mutation) => ({
        file,
        ...mutation,
      })),
    );
}

function patchOf({ file, start, end, instead }: Mutant): Patch {
  const text = readFileSync(join(PROJECT, file), 'utf8');
  return { name: 'mutant', file, text, instead: text.slice(0, start) + instead + text.slice(end) };
}

/** Whether the modules run, or it would be killed by whatever is run, and nobody would make it. */
async function loads(mutant: Mutant): Promise<boolean> {
  const outside = { fetch, caches: {}, log: () => {} };
  const simulation = new Simulation('modules', 0);
  const isStarting = () => true;
  try {
    const makeIsolate = await bundleProduct('usual', [patchOf(mutant)]);
    makeIsolate(isolateGlobals(simulation, outside, () => 0, isStarting));
    return true;
  } catch (error) {
    if (error instanceof PatchNotFound) throw error;
    return false;
  }
}

class Killing {
  readonly #folder: string;
  #copy: ScratchCopy | undefined;
  readonly #seeds: readonly string[];
  /** For the stories of a mutant: right ones take a fraction of it. */
  #seconds = 3600;

  constructor(folder: string, seeds: readonly string[]) {
    this.#folder = folder;
    this.#seeds = seeds;
  }

  /** Throws where the stories are not right without a mutant. */
  async tryClean(): Promise<void> {
    const began = performance.now();
    const ended = await this.#run([]);
    if (ended?.code !== 0) throw new Error(`without mutants: ${ended?.text.slice(-500)}`);
    this.#seconds = 20 + (4 * (performance.now() - began)) / 1000;
  }

  #run(patches: readonly Patch[]) {
    return runStories(this.#folder, patches, ['--no-shrink', ...this.#seeds], this.#seconds);
  }

  async bySeeds(mutant: Mutant): Promise<{ fate: Fate | undefined; why: string }> {
    const ended = await this.#run([patchOf(mutant)]);
    if (ended === undefined) return { fate: 'hung', why: '' };
    if (ended.code === 0) return { fate: undefined, why: '' };
    const failed = ended.stories.find(({ ok }) => !ok);
    if (ended.code !== 1) return { fate: 'fault', why: `, ${ended.text.slice(-90)}` };
    return { fate: 'seeds', why: `, ${failed?.seed}: ${failed?.message?.slice(0, 90)}` };
  }

  async byUnits({ file, start, end, instead }: Mutant): Promise<Fate> {
    this.#copy ??= new ScratchCopy(join(this.#folder, 'copy'));
    const copy = this.#copy;
    const mutate = (text: string) => text.slice(0, start) + instead + text.slice(end);
    const vitest = join(PROJECT, 'node_modules/vitest/vitest.mjs');
    const projects = ['node', 'workerd'].flatMap((name) => ['--project', name]);
    const args = [vitest, 'run', ...projects, '--bail', '1', `${unitsOf(file)}/`];
    const ended = await copy.with(file, mutate, () =>
      runNode(args, copy.folder, { seconds: UNITS_SECONDS }),
    );
    return ended?.code === 0 ? 'LIVES' : 'units';
  }
}

function describeMutant({ file, start, end, instead, operator }: Mutant): string {
  const text = readFileSync(join(PROJECT, file), 'utf8');
  const line = text.slice(0, start).split('\n').length;
  const short = (some: string) => some.replace(/\s+/g, ' ').slice(0, 70);
  return `${file}:${line} ${operator}: ${short(text.slice(start, end))} → ${short(instead)}`;
}

await runMain(USAGE, async (args) => {
  const { values, positionals: seeds } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      count: { type: 'string', default: '100' },
      choice: { type: 'string', default: '1' },
      units: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [''] },
      list: { type: 'boolean', default: false },
    },
  });
  const all = allMutants(values.only);
  if (values.list) {
    for (const [file, mutants] of Map.groupBy(all, ({ file }) => file))
      console.log(`${String(mutants.length).padStart(5)} ${file}`);
    console.log(`${String(all.length).padStart(5)} in all`);
    return 0;
  }
  if (seeds.length === 0) throw new UsageError('name seeds');
  const folder = mkdtempSync(join(tmpdir(), 'mutants-'));
  const killing = new Killing(folder, seeds);
  const fates: Record<Fate, number> = { seeds: 0, fault: 0, hung: 0, units: 0, LIVES: 0 };
  let count = 0;
  try {
    await killing.tryClean();
    for (const mutant of new Random(values.choice).sample(all, all.length)) {
      if (count === Number(values.count)) break;
      if (!(await loads(mutant))) {
        console.log(`does not load: ${describeMutant(mutant)}`);
        continue;
      }
      const began = performance.now();
      const bySeeds = await killing.bySeeds(mutant);
      const fate = bySeeds.fate ?? (values.units ? await killing.byUnits(mutant) : 'LIVES');
      fates[fate]++;
      const took = Math.round((performance.now() - began) / 1000);
      console.log(`${++count} ${fate} ${describeMutant(mutant)} (${took} s${bySeeds.why})`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const share = (some: number) => `${Math.round((100 * some) / count)} %`;
  console.log(`${count} of ${all.length} mutants: ${JSON.stringify(fates)}`);
  console.log(
    `by seeds ${share(count - fates.LIVES - fates.units)}, all ${share(count - fates.LIVES)}`,
  );
  return 0;
});
