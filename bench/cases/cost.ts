/**
 * What is billed: for a milestone, for a lookup, and in a month (docs/cloudflare.md#costs).
 */
import type { Bench, BenchCase, Figure } from '../case.ts';
import { bill, type Costs, usageOf } from '../tools/bill.ts';
import { countCosts } from '../tools/count-costs.ts';
import { withLocalStores } from '../tools/local-stores.ts';
import { DEFAULT_RATE, type Rate } from '../tools/rate.ts';
import { refusedDollars, strangerCosts, strangerTotal } from '../tools/stranger.ts';

/** What the worked example may cost a month, by default and with HISTORY `all`. */
const TARGET_DOLLARS = 71;
const HISTORY_TARGET_DOLLARS = 75;

/** What one address may cost an hour, whatever it requests. */
const STRANGER_TARGET_DOLLARS = 1;

async function run({ rate = DEFAULT_RATE, indexAll = false, report }: Bench): Promise<void> {
  const isExample = Object.entries(DEFAULT_RATE).every(
    ([name, value]) => rate[name as keyof typeof rate] === value,
  );
  const target = isExample && !indexAll ? { target: { most: TARGET_DOLLARS } } : {};
  await withLocalStores(async (stores) => {
    const { uncachedLookup, ...costs } = await countCosts(stores, rate, {
      indexAll,
      keepsHistory: false,
    });
    const { milestone, lookup, whiteFlag } = costs;
    const count = (name: string, value: number, unit: Figure['unit'] = '') =>
      report({ name, value, unit });
    count('D1 rows written a milestone', milestone.rowsWritten);
    count('D1 rows read a milestone', milestone.rowsRead);
    count('KV writes a milestone', milestone.kvWrites);
    count('KV reads a milestone', milestone.kvReads);
    count('lines of log a milestone', milestone.logLines);
    count('bytes of blocks and records kept of a milestone', milestone.packBytes);
    count('KV reads a lookup, in 20 busy places', lookup.kvReads);
    count('KV reads a lookup, without the Cache API', uncachedLookup.kvReads);
    count('D1 rows read a lookup', lookup.rowsRead);
    count('lines of log a lookup', lookup.logLines);
    count('D1 rows read a white-flag request', whiteFlag.rowsRead);

    const lines = bill(usageOf(costs, rate));
    for (const { name, used, dollars } of lines) {
      count(`a month: ${name}`, used);
      count(`a month: ${name}`, dollars, '$');
    }
    report({
      name: 'a month, in 20 busy places',
      value: monthOf(costs, rate),
      unit: '$',
      ...target,
    });
    report({
      name: 'a month, without the Cache API (workers.dev)',
      value: monthOf({ ...costs, lookup: uncachedLookup }, rate),
      unit: '$',
      ...target,
    });
  });
  await withLocalStores(async (stores) => {
    const options = { indexAll: false, keepsHistory: false, modules: [] };
    const value = monthOf(await countCosts(stores, rate, options), rate);
    report({ name: 'the core alone: a month, in 20 busy places', value, unit: '$', ...target });
  });
  reportStrangers(report);
  report({ name: 'a million requests over the limits', value: refusedDollars(), unit: '$' });
  await withLocalStores(async (stores) => {
    const costs = await countCosts(stores, rate, { indexAll, keepsHistory: true });
    const { rowsWritten, historyBytes } = costs.milestone;
    const count = (name: string, value: number) =>
      report({ name: `with HISTORY=all: ${name}`, value, unit: '' });
    count('D1 rows written a milestone', rowsWritten);
    count('bytes kept for good of a milestone', historyBytes);
    const usage = usageOf(costs, rate);
    count('D1 bytes after a month', usage.d1Bytes);
    report({
      name: 'with HISTORY=all: a month, in 20 busy places',
      value: monthOf(costs, rate),
      unit: '$',
      ...(isExample && !indexAll && { target: { most: HISTORY_TARGET_DOLLARS } }),
    });
  });
}

const monthOf = (costs: Costs, rate: Rate): number =>
  bill(usageOf(costs, rate)).reduce((total, { dollars }) => total + dollars, 0);

/** An hour at each route, and at all of them at once. */
function reportStrangers(report: Bench['report']): void {
  for (const { route, limit, usage, dollars } of strangerCosts(1)) {
    const { requests = 0, cpuMs = 0, rowsRead = 0, objectGbSeconds = 0 } = usage;
    const used = [
      `${requests.toLocaleString('en')} requests`,
      `${Math.round(cpuMs / 1000)} s of CPU`,
      `${(rowsRead / 1e6).toPrecision(2)} million rows read`,
      `${objectGbSeconds.toPrecision(2)} GB-s of objects`,
    ];
    const name = `an hour of one address at ${route} (${limit}: ${used.join(', ')})`;
    report({ name, value: dollars, unit: '$' });
    const thousand = dollars * 1000;
    report({ name: `an hour of 1,000 addresses at ${route}`, value: thousand, unit: '$' });
  }
  report({
    name: 'an hour of one address at all routes',
    value: strangerTotal(1),
    unit: '$',
    target: { most: STRANGER_TARGET_DOLLARS },
  });
  report({
    name: 'an hour of 1,000 addresses at all routes',
    value: strangerTotal(1000),
    unit: '$',
  });
}

export const costCases: readonly BenchCase[] = [
  {
    name: 'cost',
    about: 'What is billed, at the rate that --rate gives; ledger and answers asserted.',
    run,
  },
];
