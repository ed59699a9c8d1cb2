/**
 * `stardust-edge start`, which is `npm start`: serves the sample, real milestones of Shimmer, with
 * `wrangler dev`.
 *
 * The sample is kept where `npx wrangler dev` finds it, in a folder that has no other ledger. What
 * that folder lacks is created first, also after an interrupted start.
 */
import type { Command } from 'commander';
import { checkAddress, checkClock } from './lib/process/check-machine.ts';
import { exitWith, filled, newCommand, parsePort, persistToOption } from './lib/process/command.ts';
import { whenDismissed } from './lib/process/when-dismissed.ts';
import { holdFolder } from './lib/wrangler/hold-folder.ts';
import { requireWrangler } from './lib/wrangler/run-wrangler.ts';
import { readWranglerConfig } from './lib/wrangler/wrangler-config.ts';
import { prepareSample, type SampleNft } from './start/prepare-sample.ts';
import { readNetwork, readWhiteFlag } from './start/sample.ts';
import { startWranglerDev } from './start/wrangler-dev.ts';

const ABOUT = `Serves the sample (sample/README.md) and prints two requests to try. All other
options go to wrangler dev: npx wrangler dev --help`;

const ABOUT_IP = 'where to listen: by default this machine only';

/** As in wrangler.toml. */
const DEFAULT_ADDRESS = '127.0.0.1';
const DEFAULT_PORT = '8787';

/** Between two calls of the Worker's `scheduled`: wrangler dev does not run cron triggers. */
const SCHEDULE_EVERY_MS = 60_000;

interface Options {
  ip: string;
  port: string;
  persistTo: string;
}

export const startCommand = (): Command =>
  newCommand('start', ABOUT)
    .option('--ip <ADDRESS>', ABOUT_IP, filled('--ip'), DEFAULT_ADDRESS)
    .option('--port <N>', '0: any that is free', DEFAULT_PORT)
    .addOption(persistToOption('where the databases are'))
    .allowUnknownOption()
    .allowExcessArguments()
    .action(
      exitWith(({ ip, port, persistTo }: Options, { args }: Command) =>
        start({ ip, port: parsePort(port), persistTo }, args),
      ),
    );

interface Address {
  ip: string;
  port: number;
  persistTo: string;
}

/** @param flags of wrangler dev */
async function start({ ip, port, persistTo }: Address, flags: readonly string[]): Promise<number> {
  const config = readWranglerConfig();
  checkClock(config);
  requireWrangler();
  await checkAddress(ip, port, 'start');
  const nft = await prepareSample(persistTo, config, (step) => console.log(step));
  // a second follower would write the same KV
  using _held = holdFolder(persistTo);

  const { milestonePublicKeys, milestoneThreshold } = readNetwork();
  const vars = [
    `MILESTONE_PUBLIC_KEYS:${milestonePublicKeys.join()}`,
    `MILESTONE_THRESHOLD:${milestoneThreshold}`,
  ];
  const address = ['--ip', ip, '--port', String(port)];
  const defaults = ['--persist-to', persistTo, ...vars.flatMap((each) => ['--var', each])];
  const dev = startWranglerDev([...address, ...defaults, ...flags]);
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
