/**
 * Many random histories of the NFT index; fails at the first answer that is not true:
 * `npx node test/slow/histories.ts [count] [first seed]`, by default 200,000 from seed 1.
 */
import { type Counts, runHistory } from '../support/nft-index/random-history.ts';

const [count = '200000', first = '1'] = process.argv.slice(2);
const counts: Counts = new Map();
const started = Date.now();
console.warn = () => {}; // the histories contain malformed values, each of which is logged
for (let i = 0; i < Number(count); i++) await runHistory(Number(first) + i, counts);
const seconds = Math.round((Date.now() - started) / 1000);
console.log(`${count} histories from ${first} in ${seconds} s, every answer true`);
for (const [why, number] of [...counts].sort((a, b) => b[1] - a[1]))
  console.log(String(number).padStart(12), why);
