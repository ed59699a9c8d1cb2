/**
 * `stardust-edge start`, which is `npm start`: serves the sample, real milestones of Shimmer, with
 * `wrangler dev`.
 *
 * The sample has its own databases, so no other ledger is replaced. What they lack is created
 * first, also after an interrupted start.
 */
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { exitWith, newCommand, persistToOption } from './lib/process/command.ts';
import { whenDismissed } from './lib/process/when-dismissed.ts';
import { PROJECT } from './lib/project.ts';
import { readWranglerConfig } from './lib/wrangler/wrangler-config.ts';
import { prepareSample, type SampleNft } from './start/prepare-sample.ts';
import { readNetwork, readWhiteFlag } from './start/sample.ts';
import { startWranglerDev } from './start/wrangler-dev.ts';

const ABOUT = `Serves the sample (sample/README.md) and prints two requests to try. All other
options go to wrangler dev: npx wrangler dev --help`;

const DEFAULT_SAMPLE = join(PROJECT, '.wrangler', 'sample');

/** Between two calls of the Worker's `scheduled`: wrangler dev does not run cron triggers. */
const SCHEDULE_EVERY_MS = 60_000;

interface Options {
  port?: string;
  persistTo: string;
}

export const startCommand = (): Command =>
  newCommand('start', ABOUT)
    .option('--port <N>', 'default: 8787')
    .addOption(
      persistToOption('where the databases are').default(DEFAULT_SAMPLE, '.wrangler/sample'),
    )
    .allowUnknownOption()
    .allowExcessArguments()
    .action(
      exitWith((options: Options, { args }: Command) =>
        start(resolve(options.persistTo), [
          ...(options.port === undefined ? [] : ['--port', options.port]),
          ...args,
        ]),
      ),
    );

/** @param flags of wrangler dev */
async function start(persistTo: string, flags: readonly string[]): Promise<number> {
  const nft = await prepareSample(persistTo, readWranglerConfig(), (step) => console.log(step));

  const { milestonePublicKeys, milestoneThreshold } = readNetwork();
  const vars = [
    `MILESTONE_PUBLIC_KEYS:${milestonePublicKeys.join()}`,
    `MILESTONE_THRESHOLD:${milestoneThreshold}`,
  ];
  const defaults = ['--persist-to', persistTo, ...vars.flatMap((each) => ['--var', each])];
  const dev = startWranglerDev([...defaults, ...flags]);
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
