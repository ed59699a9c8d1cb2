/**
 * Runs benchmarks. Figures are those of this machine, each beside its target if it has one. Fails
 * if an answer is wrong, not if it is late.
 */
import { mkdirSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runMain, UsageError } from '../cli/lib/process/command-line.ts';
import { PROJECT } from '../cli/lib/project.ts';
import { buildWorker, bundleWorker } from '../cli/lib/wrangler/build-worker.ts';
import { type Bench, type Figure, holds } from './case.ts';
import { costCases } from './cases/cost.ts';
import { eventCases } from './cases/events.ts';
import { explorerCases } from './cases/explorer.ts';
import { feedCases } from './cases/feed.ts';
import { fetchingCases } from './cases/fetching.ts';
import { finalLedgerCases } from './cases/final-ledger.ts';
import { followingCases } from './cases/following.ts';
import { growthCases } from './cases/growth.ts';
import { importCases } from './cases/import.ts';
import { judgeCases } from './cases/judge.ts';
import { ledgerCases } from './cases/ledgers.ts';
import { libraryCases } from './cases/library.ts';
import { nftCases } from './cases/nft.ts';
import { nftListCases } from './cases/nft-lists.ts';
import { serveCases } from './cases/serve.ts';
import { whiteFlagCases } from './cases/white-flag.ts';
import { parseRate } from './tools/rate.ts';
import { formatValue, keepFigures, openRecord, writeDocument } from './tools/record.ts';

const CASES = [
  ...whiteFlagCases,
  ...growthCases,
  ...ledgerCases,
  ...nftCases,
  ...nftListCases,
  ...finalLedgerCases,
  ...fetchingCases,
  ...followingCases,
  ...feedCases,
  ...judgeCases,
  ...libraryCases,
  ...costCases,
  ...importCases,
  ...eventCases,
  ...serveCases,
  ...explorerCases,
];

const PICTURE = join(PROJECT, 'docs/performance-growth.svg');

const USAGE = `Usage: npm run bench -- [--write] [--picture] [--seconds N] [--rate RATE] [--index all] [NAME…]

Runs all benchmarks, or those whose names contain one of NAME. All of them take half an hour,
and longer the first time: ledgers are made in the folder for temporary files, and kept there.

  --write     keep the figures in dist/bench, by commit, and write docs/performance.md once every
              benchmark was measured at this commit: all at once, or some after the others
  --picture   write the curves of the benchmark "growth" to docs/performance-growth.svg
  --seconds N how long the benchmark "feed" pushes, instead of 60: then garbage is collected each
              ten seconds, to see what is left, which makes some answers late
  --rate RATE what the benchmark "cost" counts at. What is not named is as in the example:
              blocks=60,transactions=10,nfts=5,seconds=5,lookups=1000000,whiteflags=1000
              of a milestone: blocks, transactions among them (two inputs, two outputs), NFTs that
              they move, seconds to the next; a day: NFT lookups, white-flag requests
  --index all the benchmark "cost" indexes every kind of output, as with INDEX=all

Environment:
  CHROMIUM    of the benchmark "explorer"; default: Debian's chromium
  OUTPUTS     of the ledger of the benchmark "final ledger"; default: 1000000

Names:
${CASES.map(({ name }) => `  ${name}`).join('\n')}`;

function print(figure: Figure): void {
  const { name, value, unit, target } = figure;
  const goal =
    target === undefined
      ? ''
      : 'most' in target
        ? `at most ${target.most}`
        : `at least ${target.least}`;
  const verdict = target === undefined ? '' : holds(figure) ? 'holds' : 'MISSED';
  const amount = `${formatValue(value).padStart(9)} ${unit.padEnd(8)}`;
  console.log(`  ${name.padEnd(64)} ${amount} ${goal.padEnd(16)} ${verdict}`);
}

/** A number of whole milestones, of which there are at least six: two in each third. */
function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!Number.isInteger(seconds / 10) || seconds < 60)
    throw new UsageError('--seconds must be 60 or more, in tens');
  return seconds;
}

await runMain(USAGE, async (args) => {
  const { values, positionals } = parseArgs({
    args,
    options: {
      write: { type: 'boolean', default: false },
      picture: { type: 'boolean', default: false },
      seconds: { type: 'string' },
      rate: { type: 'string' },
      index: { type: 'string' },
    },
    allowPositionals: true,
  });
  const chosen = CASES.filter(
    ({ name }) => positionals.length === 0 || positionals.some((part) => name.includes(part)),
  );
  if (chosen.length === 0) throw new UsageError('no benchmark has such a name');
  if (values.index !== undefined && values.index !== 'all')
    throw new UsageError('--index must be all');
  const rate = values.rate === undefined ? undefined : parseRate(values.rate);
  const seconds = values.seconds === undefined ? undefined : parseSeconds(values.seconds);
  const kept = values.write ? openRecord() : undefined;
  const build = join(tmpdir(), 'stardust-edge-node', 'build');
  const bench: Bench = {
    worker: join(build, 'worker'),
    probe: join(build, 'probe'),
    counted: join(build, 'counted'),
    ...(values.picture && { picture: PICTURE }),
    ...(seconds && { seconds }),
    ...(rate && { rate }),
    ...(values.index && { indexAll: true }),
    report: print,
  };
  mkdirSync(build, { recursive: true });
  await Promise.all([
    buildWorker(bench.worker),
    bundleWorker(bench.probe, 'bench/probe/wrangler.toml'),
    bundleWorker(bench.counted, 'bench/counted/wrangler.toml'),
  ]);
  console.log(`${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}\n`);
  for (const { name, about, run } of chosen) {
    console.log(`${name}\n  ${about}`);
    const figures: Figure[] = [];
    await run({
      ...bench,
      report(figure) {
        print(figure);
        figures.push(figure);
      },
    });
    if (kept !== undefined) keepFigures(kept, name, figures);
  }
  if (kept !== undefined) {
    const missing = writeDocument(
      kept,
      CASES.map(({ name }) => name),
    );
    const rest =
      missing.length > 0 ? `stays: not measured at this commit: ${missing}` : 'is written';
    console.log(`docs/performance.md ${rest}`);
  }
  return 0;
});
