/**
 * Many random histories at once, from the command line: `npx node test/slow/histories.ts [how many] [first seed]`.
 */
import { type Counts, runHistory } from '../support/nft-index/random-history.ts';

const [count = '200000', first = '1'] = process.argv.slice(2);
const counts: Counts = new Map();
const started = Date.now();
console.warn = () => {}; // malformed values are part of the histories
for (let i = 0; i < Number(count); i++) await runHistory(Number(first) + i, counts);
console.log(
  `${count} histories from ${first} in ${Math.round((Date.now() - started) / 1000)} s, every answer true`,
);
for (const [why, number] of [...counts].sort((a, b) => b[1] - a[1]))
  console.log(String(number).padStart(12), why);
