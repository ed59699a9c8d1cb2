/**
 * The follower and the white flag in any weather: forged milestones, double spends, halts, crashes,
 * two followers, lying upstreams, counters near their ends, in any order. Every answer is right or
 * an error, and every signed milestone is applied. `npx node test/slow/weather.ts` runs more of it.
 */
import { expect, it } from 'vitest';
import { type Counts, makePlan, runPlan, runSeed } from '../support/weather/run.ts';
import { CALM, HOSTILE } from '../support/weather/steps.ts';

const RUNS = 500;
const CALM_RUNS = 20;
const PLANTED_RUNS = 4;

it(`${RUNS} runs: every answer is right or an error, every signed milestone is applied`, async () => {
  const counts: Counts = new Map();
  for (let seed = 1; seed <= RUNS; seed++) await runSeed(seed, counts);
  for (const kind of [...CALM, ...HOSTILE])
    expect([kind, (counts.get(kind) ?? 0) >= 10]).toEqual([kind, true]);
  expect(counts.get('asked, 200')).toBeGreaterThan(400);
  expect(counts.get('asked, 404')).toBeGreaterThan(80);
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
