/**
 * Many random histories of the NFT index. Fails at the first answer that is not true.
 */
import { parseArgs } from 'node:util';
import { runMain, UsageError } from '../../cli/lib/process/command-line.ts';
import { type Counts, runHistory } from '../support/nft-index/random-history.ts';

const USAGE = `Usage: node tools/run.js test/slow/histories.ts [COUNT] [FIRST SEED]

Runs COUNT random histories of the NFT index, by default 60,000, from seed 1: about 5 minutes.`;

await runMain(USAGE, async (args) => {
  const { positionals } = parseArgs({ args, allowPositionals: true });
  const [count = 60_000, first = 1, ...others] = positionals.map(Number);
  if (![count, first].every(Number.isSafeInteger) || others.length > 0)
    throw new UsageError('a count and a seed are whole numbers');
  const counts: Counts = new Map();
  const started = Date.now();
  console.warn = () => {}; // the histories contain malformed values, each of which is logged
  for (let i = 0; i < count; i++) await runHistory(first + i, counts);
  const seconds = Math.round((Date.now() - started) / 1000);
  console.log(`${count} histories from ${first} in ${seconds} s, every answer true`);
  for (const [why, number] of [...counts].sort((a, b) => b[1] - a[1]))
    console.log(String(number).padStart(12), why);
  return 0;
});
