/**
 * `npm start [-- FLAGS]`: serves the sample, real Shimmer milestones, with `wrangler dev` (design §6). The flags go to wrangler.
 *
 * The sample has databases of its own, so that nobody's ledger is replaced. What they lack is made first, also when an earlier start was cut short.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { prepareSample, type SampleNft } from './lib/prepare-sample.ts';
import { readNetwork, readWhiteFlag } from './lib/sample.ts';
import { PROJECT, readWranglerConfig } from './lib/wrangler-config.ts';
import { startWranglerDev } from './lib/wrangler-dev.ts';

const DEFAULT_PERSIST_TO = join(PROJECT, '.wrangler', 'sample');

/** Milliseconds between two looks at whether npm, which started us, is still there. */
const LOOK = 500;

/** Milliseconds between two calls to `scheduled`: what the cron trigger does on Cloudflare and does not do in wrangler dev. */
const CRON = 60_000;

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
    setInterval(() => void runSchedule(url), CRON).unref();
  } catch {
    // it has said why
  }
  const code = await dev.ended;
  return stopped ? 0 : code;
}

async function runSchedule(url: URL): Promise<void> {
  await fetch(new URL('/cdn-cgi/handler/scheduled', url)).catch(() => undefined);
}

/** Wrangler does not take a flag twice. */
function withoutPersistTo(flags: readonly string[]): string[] {
  return flags.filter(
    (flag, i) => !flag.startsWith('--persist-to') && flags[i - 1] !== '--persist-to',
  );
}

/** Calls when we are to end: by a signal, or because npm is gone. */
function whenDismissed(end: () => void): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
  if (process.env.npm_lifecycle_event === undefined) return;
  const shell = process.ppid;
  const npm = parentOf(shell);
  setInterval(() => {
    if (process.ppid !== shell || parentOf(shell) !== npm) end();
  }, LOOK).unref();
}

/** npm runs us by a shell, which outlives it. Undefined where the system does not tell. */
function parentOf(pid: number): string | undefined {
  try {
    return /^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}

function describeRequests(origin: string, { nftId, outputId }: SampleNft): string {
  const { request, expected } = readWhiteFlag();
  return `
Serving milestones of Shimmer, September 2022, at ${origin}. Two requests to paste into another terminal:

curl ${origin}/api/indexer/v1/outputs/nft/${nftId}
  answers {"ledgerIndex":17339,"items":["${outputId}"]}

curl ${origin}/api/core/v2/whiteflag -H 'content-type: application/json' -d '${JSON.stringify(request)}'
  answers ${JSON.stringify(expected)}
`;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
