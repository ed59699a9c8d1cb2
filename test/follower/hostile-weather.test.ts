/**
 * The follower and the white flag in any weather: forged milestones, double spends, halts, crashes,
 * imports, two followers, lying upstreams, counters near their ends, in any order and at once. Every
 * answer is right or an error, and every signed milestone is applied. `node
 * tools/run.js test/slow/weather.ts` runs more of it.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { PROJECT } from '../../cli/lib/project.ts';
import { type Counts, makePlan, runPlan, runSeed } from '../support/weather/run.ts';
import { CALM, HOSTILE } from '../support/weather/steps.ts';

/**
 * In each of two processes: their modules are loaded with other limits. After 40 seconds a quarter of
 * the runs is enough.
 */
const RUNS = 1000;
const SECONDS = 40;
const CALM_RUNS = 20;
const PLANTED_RUNS = 4;

/** How often each thing came about. Rejects with what the process says of a failure. */
async function runWeather(first: number): Promise<Counts> {
  const args = ['test/slow/weather.ts', '--seconds', `${SECONDS}`, `${RUNS}`, `${first}`];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: PROJECT });
  const lines = stdout.matchAll(/^ +(\d+) (.*)$/gm);
  return new Map(Array.from(lines, ([, count, what]) => [what!, Number(count)]));
}

it(`${2 * RUNS} runs or 40 seconds: every answer is right or an error, every signed milestone is applied`, async () => {
  const both = await Promise.all([runWeather(1), runWeather(1 + RUNS)]);
  const count = (what: string) => both.reduce((sum, counts) => sum + (counts.get(what) ?? 0), 0);
  for (const kind of [...CALM, ...HOSTILE]) expect([kind, count(kind) >= 10]).toEqual([kind, true]);
  expect(count('asked, 200')).toBeGreaterThan(400);
  expect(count('asked, 404')).toBeGreaterThan(80);
}, 600_000);

it(`${CALM_RUNS} runs in which nobody is hostile`, async () => {
  const counts: Counts = new Map();
  for (let seed = 1; seed <= CALM_RUNS; seed++) await runSeed(seed, counts, { hostile: false });
  expect(counts.get('asked, 200')).toBeGreaterThan(60);
});

it.each([
  ['root', /^wrong 200: /],
  ['output', /^another ledger state /],
  ['milestone', /^milestone \d+ of \d+ is not applied: /],
] as const)('finds a mistake that was planted: %s', async (planted, message) => {
  for (let seed = 1; seed <= PLANTED_RUNS; seed++) {
    const plan = makePlan(String(seed), { hostile: false, planted });
    expect((await runPlan(plan)).failure?.message).toMatch(message);
  }
});

/** With a seed that finds it. */
const MISTAKES = [
  ['notes of outputs count that no block keeps true', 1],
  ['no verdict is made later', 10],
  ['blocks that an earlier milestone referenced stay', 24],
  ['milestones leave notes as they are', 10],
  ['each known parent proves its child unreferenced', 11],
  ['a verdict that somebody else makes meanwhile counts as damaged', 9421660],
] as const;

it.each(MISTAKES)(
  'finds a mistake in the product: %s',
  async (mistake, seed) => {
    const args = ['test/slow/weather.ts', '--mistake', mistake, '1', String(seed)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: PROJECT });
    expect(stdout).toMatch(/is not applied|are damaged|is damaged|wrong 200/);
  },
  60_000,
);
