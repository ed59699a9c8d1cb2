/**
 * `npm start [-- FLAGS]`: serves the sample, real milestones of Shimmer, with `wrangler dev`.
 *
 * The sample has its own databases, so no other ledger is replaced. What they lack is created
 * first, also after an interrupted start.
 */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runMain } from './lib/process/command-line.ts';
import { whenDismissed } from './lib/process/when-dismissed.ts';
import { PROJECT } from './lib/project.ts';
import { readWranglerConfig } from './lib/wrangler/wrangler-config.ts';
import { prepareSample, type SampleNft } from './start/prepare-sample.ts';
import { readNetwork, readWhiteFlag } from './start/sample.ts';
import { startWranglerDev } from './start/wrangler-dev.ts';

const USAGE = `Usage: npm start [-- FLAGS]

Serves the sample (sample/README.md) at http://127.0.0.1:8787 and prints two requests to try.

  --persist-to DIR   where the databases are; default .wrangler/sample

All other flags go to wrangler dev, --port N for example: npx wrangler dev --help`;

const DEFAULT_PERSIST_TO = join(PROJECT, '.wrangler', 'sample');

/** Between two calls of the Worker's `scheduled`: wrangler dev does not run cron triggers. */
const SCHEDULE_EVERY_MS = 60_000;

async function main(flags: string[]): Promise<number> {
  const { values } = parseArgs({
    args: flags,
    options: { 'persist-to': { type: 'string' } },
    strict: false,
  });
  const named = values['persist-to'];
  const persistTo = typeof named === 'string' ? resolve(named) : DEFAULT_PERSIST_TO;
  const nft = await prepareSample(persistTo, readWranglerConfig(), (step) => console.log(step));

  const { milestonePublicKeys, milestoneThreshold } = readNetwork();
  const vars = [
    `MILESTONE_PUBLIC_KEYS:${milestonePublicKeys.join()}`,
    `MILESTONE_THRESHOLD:${milestoneThreshold}`,
  ];
  const defaults = ['--persist-to', persistTo, ...vars.flatMap((each) => ['--var', each])];
  const dev = startWranglerDev([...defaults, ...withoutPersistTo(flags)]);
  let stopped = false;
  whenDismissed(() => {
    stopped = true;
    void dev.stop();
  });
  try {
    const url = await dev.ready;
    await runSchedule(url);
    console.log(describeRequests(url.origin, nft));
    setInterval(() => void runSchedule(url), SCHEDULE_EVERY_MS).unref();
  } catch {
    // wrangler has printed why it does not listen
  }
  const code = await dev.ended;
  return stopped ? 0 : code;
}

async function runSchedule(url: URL): Promise<void> {
  await fetch(new URL('/cdn-cgi/handler/scheduled', url)).catch(() => undefined);
}

/** Wrangler refuses a flag that is given twice. */
function withoutPersistTo(flags: readonly string[]): string[] {
  return flags.filter(
    (flag, i) => !flag.startsWith('--persist-to') && flags[i - 1] !== '--persist-to',
  );
}

function describeRequests(origin: string, { nftId, outputId }: SampleNft): string {
  const { request, expected } = readWhiteFlag();
  return `
Serving milestones of Shimmer (September 2022) at ${origin}. Two requests for another terminal:

curl ${origin}/api/indexer/v1/outputs/nft/${nftId}
  answers {"ledgerIndex":17339,"items":["${outputId}"]}

curl ${origin}/api/core/v2/whiteflag -H 'content-type: application/json' -d '${JSON.stringify(request)}'
  answers ${JSON.stringify(expected)}
`;
}

await runMain(USAGE, main);
