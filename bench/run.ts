/**
 * Runs benchmarks: all of them, or those whose names contain one of the arguments. `npm run bench -- transfers` for example.
 *
 * Figures are those of this machine; what the design asks for stands beside them. Fails where an answer is wrong, not where one is late.
 */
import { mkdirSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildWorker } from '../test/support/edge/bundle.ts';
import { type Bench, type Figure, holds } from './case.ts';
import { followingCases } from './cases/following.ts';
import { growthCases } from './cases/growth.ts';
import { judgeCases } from './cases/judge.ts';
import { ledgerCases } from './cases/ledgers.ts';
import { nftCases } from './cases/nft.ts';
import { whiteFlagCases } from './cases/white-flag.ts';

const CASES = [
  ...whiteFlagCases,
  ...growthCases,
  ...ledgerCases,
  ...nftCases,
  ...followingCases,
  ...judgeCases,
];

function print(figure: Figure): void {
  const { name, value, unit, target } = figure;
  const goal =
    target === undefined
      ? ''
      : 'most' in target
        ? `at most ${target.most}`
        : `at least ${target.least}`;
  const verdict = target === undefined ? '' : holds(figure) ? 'holds' : 'MISSED';
  console.log(
    `  ${name.padEnd(64)} ${format(value).padStart(9)} ${unit.padEnd(8)} ${goal.padEnd(16)} ${verdict}`,
  );
}

/** Three digits that count. */
function format(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return value.toPrecision(3);
}

const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const chosen = CASES.filter(
  ({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)),
);
if (chosen.length === 0) {
  console.error(
    `No such benchmark. There are:\n${CASES.map(({ name }) => `  ${name}`).join('\n')}`,
  );
  process.exit(1);
}

const build = join(tmpdir(), 'stardust-edge-node', 'build');
const bench: Bench = { worker: join(build, 'worker'), probe: join(build, 'probe'), report: print };
mkdirSync(build, { recursive: true });
await Promise.all([
  buildWorker(bench.worker),
  buildWorker(bench.probe, 'bench/probe/wrangler.toml'),
]);
console.log(`${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}\n`);
for (const { name, about, run } of chosen) {
  console.log(`${name}\n  ${about}`);
  await run(bench);
}
