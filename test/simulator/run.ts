/**
 * Runs stories: seeds, or one that was kept. A story that fails is shrunk and printed.
 */
import { fork } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runMain, UsageError } from '../../cli/lib/process/command-line.ts';
import { type Patch, PatchNotFound } from './platform/bundle.ts';
import { linesOf as linesOfNetwork } from './reference/network-file.ts';
import { type Outcome, runStory } from './run-story.ts';
import { shrink } from './shrink.ts';
import { PLAIN, printStory, type Story, tellStory } from './story.ts';

const USAGE = `Usage: node tools/run.js test/simulator/run.ts [options] SEED|FROM-TO…

Runs the whole node through the stories of these seeds. A story that fails is shrunk, printed, and
written to a file, from which --story repeats it.

  --seconds N        fresh seeds, from the given one on (default 1), until so much time has passed
  --workers N        processes at once (default 1)
  --patch FILE       changes the product: JSON, [{"name", "file", "text", "instead"}]; repeatable
  --story FILE       repeats a story that was kept; repeatable
  --twice            runs each story twice (else one in 20); the hashes must agree
  --no-shrink        leaves failing stories as they are
  --shrink-seconds N at most so long for a story (default 60)
  --stop             ends at the first failure
  --dump FOLDER      writes the networks, for the reference to judge
  --log FILE         writes what happened, and the node's log
  --json             a line of JSON for each story, and one in the end

Exit code 1: something is wrong. 2: wrong use, or a patch is not found. 3: the simulator is at fault.`;

const OPTIONS = {
  seconds: { type: 'string' },
  workers: { type: 'string', default: '1' },
  patch: { type: 'string', multiple: true, default: [] as string[] },
  story: { type: 'string', multiple: true, default: [] as string[] },
  twice: { type: 'boolean', default: false },
  'no-shrink': { type: 'boolean', default: false },
  'shrink-seconds': { type: 'string', default: '60' },
  stop: { type: 'boolean', default: false },
  dump: { type: 'string' },
  log: { type: 'string' },
  json: { type: 'boolean', default: false },
  /** Of a worker: which share of the seeds it takes. */
  share: { type: 'string', default: '0/1' },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];

const SIMULATOR_AT_FAULT = 3;
/** One story in so many runs twice. */
const TWICE_EVERY = 20;

const began = process.hrtime.bigint();
const elapsed = () => Number((process.hrtime.bigint() - began) / 1000n) / 1e6;

function cpuNow(): number {
  const { user, system } = process.cpuUsage();
  return Math.round((user + system) / 1000);
}

interface Line {
  seed: string;
  ok: boolean;
  kind?: string;
  message?: string;
  entries: number;
  shrunkTo?: number;
  ms: number;
  cpuMs: number;
  milestones: number;
  hash: string;
}

interface Total {
  runs: number;
  milestones: number;
  failures: number;
}

await runMain(USAGE, async (args) => {
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  const workers = Number(values.workers);
  const isNumber = (text = '1') => Number.isSafeInteger(Number(text)) && Number(text) > 0;
  if (!isNumber(values.workers) || !isNumber(values.seconds) || !isNumber(values['shrink-seconds']))
    throw new UsageError('seconds and workers are whole numbers');
  if (values.story.length === 0 && values.seconds === undefined && positionals.length === 0)
    throw new UsageError('name a seed');
  const code = workers > 1 ? await runWorkers(args, workers) : await runHere(values, positionals);
  return code;
});

async function runHere(values: Values, seeds: readonly string[]): Promise<number> {
  const patches = values.patch.flatMap((path) => readJson<Patch | Patch[]>(path));
  const total: Total = { runs: 0, milestones: 0, failures: 0 };
  try {
    for (const story of storiesOf(values, seeds)) {
      await runOne(story, values, patches, total);
      if (values.stop && total.failures > 0) break;
    }
  } catch (error) {
    if (error instanceof PatchNotFound) throw new UsageError(error.message);
    console.error(`the simulator is at fault: ${(error as Error).stack}`);
    return SIMULATOR_AT_FAULT;
  }
  say(values, { ...total, seconds: Math.round(elapsed()) }, () => {
    const { runs, milestones, failures } = total;
    const rate = Math.round((60 * milestones) / elapsed());
    return `${runs} stories, ${milestones} milestones in ${elapsed().toFixed(1)} s (${rate} a minute): ${failures} failed`;
  });
  return total.failures > 0 ? 1 : 0;
}

function say(values: Values, json: object, text: () => string): void {
  console.log(values.json ? JSON.stringify(json) : text());
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8')) as T;
}

function* storiesOf(values: Values, named: readonly string[]): Generator<Story> {
  for (const path of values.story) {
    const story = readJson<Story>(path);
    yield { ...story, settings: { ...PLAIN, ...story.settings } };
  }
  const [share, shares] = values.share.split('/').map(Number) as [number, number];
  if (values.seconds === undefined) {
    const seeds = named.flatMap(seedsOf).filter((_, i) => i % shares === share);
    for (const seed of seeds) yield tellStory(seed);
    return;
  }
  const first = Number(named[0] ?? 1);
  for (let seed = first + share; elapsed() < Number(values.seconds); seed += shares)
    yield tellStory(String(seed));
}

function seedsOf(text: string): string[] {
  const range = /^(\d+)-(\d+)$/.exec(text);
  if (range === null) return [text];
  const [from, to] = [Number(range[1]), Number(range[2])];
  return Array.from({ length: to - from + 1 }, (_, i) => String(from + i));
}

async function runOne(
  story: Story,
  values: Values,
  patches: readonly Patch[],
  total: Total,
): Promise<void> {
  const from = elapsed();
  const cpuFrom = cpuNow();
  const outcome = await runStory(story, patches);
  const ms = Math.round(1000 * (elapsed() - from));
  const cpuMs = cpuNow() - cpuFrom;
  const { failure, hash, milestones, world } = outcome;
  total.runs++;
  total.milestones += milestones;
  if (values.log !== undefined) writeLog(values.log, outcome);
  if (values.dump !== undefined) {
    mkdirSync(values.dump, { recursive: true });
    writeFileSync(join(values.dump, `${story.seed}.jsonl`), networkText(world));
  }
  if (values.twice || total.runs % TWICE_EVERY === 0) {
    const again = await runStory(story, patches);
    if (again.hash !== hash)
      throw new Error(`story ${story.seed} goes another way: ${firstDifference(outcome, again)}`);
  }
  const line: Line = {
    seed: story.seed,
    ok: failure === undefined,
    entries: story.entries.length,
    ms,
    cpuMs,
    milestones,
    hash,
  };
  if (failure === undefined) {
    say(values, line, () => `${story.seed} ${hash} ${milestones} milestones, ${cpuMs} ms of CPU`);
    return;
  }
  total.failures++;
  Object.assign(line, { kind: failure.kind, message: failure.message });
  let smallest = story;
  if (!values['no-shrink']) {
    const end = elapsed() + Number(values['shrink-seconds']);
    smallest = await shrink(story, failure, patches, () => elapsed() < end);
    line.shrunkTo = smallest.entries.length;
  }
  const path = `story-${story.seed}.json`;
  writeFileSync(path, JSON.stringify(smallest));
  say(values, line, () =>
    [
      `${story.seed} ${hash} FAILED after ${milestones} milestones: ${failure.message}`,
      `of ${story.entries.length} entries these are enough:`,
      printStory(smallest),
      `again: node tools/run.js test/simulator/run.ts --story ${path}`,
    ].join('\n'),
  );
}

/** With what was asked on the way; where it can be answered, place-proposals.ts finds. */
function networkText({ network, proposals, truth }: Outcome['world']): string {
  const asked = proposals.map((request) => {
    const roots = truth.roots(request);
    return { after: 0, request, response: typeof roots === 'string' ? undefined : roots };
  });
  const lines = linesOfNetwork({ network, asked, refused: [] });
  return [...lines].map((line) => `${JSON.stringify(line)}\n`).join('');
}

function firstDifference(one: Outcome, other: Outcome): string {
  const [lines, others] = [linesOf(one), linesOf(other)];
  const place = lines.findIndex((line, i) => line !== others[i]);
  return place < 0 ? 'in the database alone' : `${lines[place]}\nand then ${others[place]}`;
}

function writeLog(path: string, outcome: Outcome): void {
  writeFileSync(path, `${linesOf(outcome).join('\n')}\n`);
}

function linesOf({ world }: Outcome): string[] {
  const lines = world.node.lines.map(({ at, text }): [number, string] => [at - world.start, text]);
  const notes = world.notes.map((note): [number, string] => {
    const [at = '0', ...words] = note.split(' ');
    return [Number(at), words.join(' ')];
  });
  const all = [...notes, ...lines].sort(([a], [b]) => a - b);
  return all.map(([at, text]) => `${at} ${text}`);
}

/** Each process takes its share of the seeds; what they print is this one's. */
async function runWorkers(args: readonly string[], count: number): Promise<number> {
  const children = Array.from({ length: count }, (_, i) =>
    fork(import.meta.filename, [...args, '--workers', '1', '--share', `${i}/${count}`]),
  );
  const isStopped = (code: number | null) => code !== 0 && args.includes('--stop');
  const codes = children.map(
    (child) =>
      new Promise<number>((resolve) =>
        child.once('exit', (code, signal) => {
          if (isStopped(code)) for (const each of children) each.kill();
          resolve(signal === 'SIGTERM' ? 0 : (code ?? SIMULATOR_AT_FAULT));
        }),
      ),
  );
  return Math.max(...(await Promise.all(codes)));
}
