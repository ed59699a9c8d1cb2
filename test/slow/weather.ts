/**
 * Many runs of hostile weather (test/follower/hostile-weather.test.ts). Fails at the first answer
 * that is wrong, or milestone that is not applied, and lists the steps that lead to it.
 */
import { parseArgs } from 'node:util';
import { runMain, UsageError } from '../../cli/lib/process/command-line.ts';
import { loadRuns, MISTAKES, type Mistake } from '../support/weather/limits.ts';

const USAGE = `Usage: node tools/run.js test/slow/weather.ts [--seconds N | --mistake NAME] [COUNT] [FIRST SEED]

Runs hostile weather COUNT times, by default 10,000, from seed 1: about half an hour.

  --seconds N      after that time a quarter of COUNT is enough
  --mistake NAME   puts a mistake into the product, and runs until it is found:
${MISTAKES.map((name) => `                     ${name}`).join('\n')}`;

await runMain(USAGE, async (args) => {
  const options = { mistake: { type: 'string' }, seconds: { type: 'string' } } as const;
  const { positionals, values } = parseArgs({ args, options, allowPositionals: true });
  const [count = 10_000, first = 1, ...others] = positionals.map(Number);
  const patience = Number(values.seconds ?? Number.MAX_SAFE_INTEGER);
  if (![count, first, patience].every(Number.isSafeInteger) || others.length > 0)
    throw new UsageError('a count, a seed and seconds are whole numbers');
  if (values.mistake !== undefined) return findMistake(values.mistake, count, first);
  const counts = new Map<string, number>();
  const started = Date.now();
  const isPatient = () => Date.now() - started < patience * 1000;
  let runs = 0;
  for (; runs < count && (runs < count / 4 || isPatient()); runs++) {
    const { runSeed } = await loadRuns(first + runs);
    await runSeed(first + runs, counts);
  }
  const seconds = Math.round((Date.now() - started) / 1000);
  console.log(`${runs} runs from ${first} in ${seconds} s: answers right, milestones applied`);
  for (const [what, number] of [...counts].sort((a, b) => b[1] - a[1]))
    console.log(String(number).padStart(12), what);
  return 0;
});

/** Exit code 0 if one of the runs found it. */
async function findMistake(name: string, count: number, first: number): Promise<number> {
  const mistake = MISTAKES.find((each): each is Mistake => each === name);
  if (mistake === undefined) throw new UsageError(`no mistake is named ${name}`);
  for (let seed = first; seed < first + count; seed++) {
    const { makePlan, runPlan } = await loadRuns(seed, mistake);
    const { failure } = await runPlan(makePlan(String(seed)));
    if (failure === undefined) continue;
    console.log(`found by run ${seed}: ${failure.message}`);
    return 0;
  }
  console.log(`not found by ${count} runs from ${first}`);
  return 1;
}
