/**
 * Compares the product with the reference, without end: random networks, or those that the
 * simulator wrote.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runMain, UsageError } from '../../../cli/lib/process/command-line.ts';
import { PROJECT } from '../../../cli/lib/project.ts';
import { compareAnswers, type Difference } from './compare-answers.ts';
import { judge } from './judge-answers.ts';
import { Kinds } from './kinds.ts';
import { type Line, linesOf } from './network-file.ts';
import { compareNode } from './node-answers.ts';
import { placeProposals } from './place-proposals.ts';
import { wildNetwork } from './wild-network.ts';

const USAGE = `Usage: node tools/run.js test/simulator/reference/run.ts [options] [SEED|FROM-TO|FILE.jsonl…]

Puts networks to the reference's own code (tools/judge, which needs Go) and to ours. A seed makes a
network of transactions of all kinds, which our node follows as well; a file is one that the
simulator wrote. Prints what differs, and at the end how much of what was compared. Exit status 1 if
anything differs.

  --time SECONDS    seeds from the given one on (default: 1) until so much time has passed
  --milestones N    of each network that a seed makes (default: 30)
  --odd             networks at the ends of what the protocol allows
  --judge PROGRAM   a build of tools/judge; without it, one is made
  --keep FOLDER     where networks that differ are kept, up to the first line that does`;

const EVENTS = 30;

class Comparing {
  readonly #program: string;
  readonly #keep: string | undefined;
  readonly #kinds = new Kinds();
  readonly #began = performance.now();
  #networks = 0;
  #differences = 0;

  constructor(program: string, keep: string | undefined) {
    this.#program = program;
    this.#keep = keep;
  }

  async seed(number: number, milestones: number, odd: boolean): Promise<void> {
    const seed = `${odd ? 'odd' : 'wild'} ${number}`;
    const network = wildNetwork({ seed, milestones, events: EVENTS, odd });
    const lines = [...linesOf(network)];
    const answers = await judge(this.#program, lines);
    const found = await compareAnswers(lines, answers, this.#kinds);
    // a node cannot follow where it decides otherwise
    if (found.length === 0) found.push(...(await compareNode(lines, answers)));
    this.#tell(lines, found);
  }

  /** One network or more, one after the other. */
  async file(path: string): Promise<void> {
    const text = readFileSync(path, 'utf8').split('\n');
    const all = text.flatMap((each) => (each === '' ? [] : [JSON.parse(each) as Line]));
    const begins = all.flatMap(({ type }, i) => (type === 'network' ? [i] : []));
    for (const [i, begin] of begins.entries()) {
      const lines = placeProposals(all.slice(begin, begins[i + 1]));
      const answers = await judge(this.#program, lines);
      this.#tell(lines, await compareAnswers(lines, answers, this.#kinds));
    }
  }

  #tell(lines: readonly Line[], found: readonly Difference[]): void {
    this.#networks++;
    this.#differences += found.length;
    for (const { network, line, text } of found) console.log(`${network}, line ${line}: ${text}`);
    const first = found[0];
    if (first === undefined || this.#keep === undefined) return;
    mkdirSync(this.#keep, { recursive: true });
    const path = join(this.#keep, `${first.network.replaceAll(' ', '-')}.jsonl`);
    const kept = lines.slice(0, first.line + 1);
    writeFileSync(path, kept.map((each) => `${JSON.stringify(each)}\n`).join(''));
    console.log(`${path}: ${kept.length} lines`);
  }

  /** The exit status. */
  conclude(): number {
    const seconds = Math.round((performance.now() - this.#began) / 1000);
    console.log(`${this.#kinds}`);
    console.log(`${this.#networks} networks in ${seconds} s: ${this.#differences} differences`);
    return this.#differences > 0 ? 1 : 0;
  }
}

function buildJudge(to: string): string {
  const folder = join(PROJECT, 'tools/judge');
  execFileSync('go', ['build', '-C', folder, '-o', to, '.'], { stdio: 'inherit' });
  return to;
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`not a whole number: ${text}`);
  return Number(text);
}

function seedsOf(text: string): number[] {
  const [from, to = from] = text.split('-').map(wholeNumber);
  return Array.from({ length: to! - from! + 1 }, (_, i) => from! + i);
}

await runMain(USAGE, async (args) => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      time: { type: 'string' },
      milestones: { type: 'string', default: '30' },
      odd: { type: 'boolean', default: false },
      judge: { type: 'string' },
      keep: { type: 'string' },
    },
  });
  const milestones = wholeNumber(values.milestones);
  const seconds = values.time === undefined ? undefined : wholeNumber(values.time);
  const own = mkdtempSync(join(tmpdir(), 'judge-'));
  // the node's lines of log, one a milestone
  console.info = () => {};
  try {
    const program = values.judge ?? buildJudge(join(own, 'judge'));
    const comparing = new Comparing(program, values.keep);
    for (const path of positionals.filter((each) => each.endsWith('.jsonl')))
      await comparing.file(path);
    const seeds = positionals.filter((each) => !each.endsWith('.jsonl')).flatMap(seedsOf);
    if (seconds === undefined) {
      for (const seed of seeds) await comparing.seed(seed, milestones, values.odd);
    } else {
      const end = performance.now() + 1000 * seconds;
      for (let seed = seeds[0] ?? 1; performance.now() < end; seed++)
        await comparing.seed(seed, milestones, values.odd);
    }
    return comparing.conclude();
  } finally {
    rmSync(own, { recursive: true });
  }
});
