/**
 * `npm run deploy`: from nothing to a verified node on Cloudflare, and from one release to the next
 * (docs/operations.md#deploy-to-cloudflare).
 */
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { findDeployed, NOTHING_DEPLOYED } from './deploy/deployed-worker.ts';
import { logIn } from './deploy/log-in.ts';
import { openNotes } from './deploy/notes.ts';
import { readRelease } from './deploy/release.ts';
import { type Ask, resolveOptions } from './deploy/resolve-options.ts';
import { describeSteps, runSteps } from './deploy/run-steps.ts';
import { deployedUrl, listSteps } from './deploy/steps.ts';
import { openNode } from './lib/node-client.ts';
import { runMain, UsageError } from './lib/process/command-line.ts';
import { PROJECT } from './lib/project.ts';
import { inEnvironment } from './lib/wrangler/run-wrangler.ts';
import { readWranglerConfig, WRANGLER_TOML } from './lib/wrangler/wrangler-config.ts';

const USAGE = `Usage: npm run deploy -- [--env staging] [--dry-run] [FLAGS]

Deploys the Worker to Cloudflare: makes D1 and KV, imports a snapshot, sets settings and secrets,
deploys, waits for health, verifies, prints the URL. What is done already is seen and not done
again: after any interruption, and for the next release, give the same command again.

It asks for what no flag names and was not deployed before. Without a terminal it asks nothing, and
fails instead.

  --env staging       the Worker and the stores of [env.staging] in wrangler.toml, beside production
  --dry-run           say what would be done; change nothing
  --network NAME      who signs milestones: shimmer, or the configuration file of a HORNET node of
                      the network (protocol.publicKeyRanges and milestonePublicKeyCount)
  --upstream URLS     HORNET nodes to follow, separated by commas; '': follow nothing
  --full FILE         the full snapshot, where there is no ledger yet
  --delta FILE        the delta snapshot that was written after it
  --var NAME:VALUE    another setting (docs/operations.md#settings); may be repeated
  --secrets FILE      JSON: an object of API_USER, API_PASSWORD, API_TOKEN, UPSTREAM_TOKEN
  --url URL           where the Worker answers, if wrangler does not know; with user name and
                      password where routes are protected and --secrets is not given`;

const text = { type: 'string' } as const;
const OPTIONS = {
  env: { type: 'string', default: '' },
  'dry-run': { type: 'boolean', default: false },
  network: text,
  upstream: text,
  full: text,
  delta: text,
  var: { type: 'string', multiple: true },
  secrets: text,
  url: text,
} as const;

const ask: Ask = async (question, flag) => {
  if (!process.stdin.isTTY) throw new UsageError(`${flag} is missing, and nobody can be asked`);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return (await terminal.question(`${question} `)).trim();
  } finally {
    terminal.close();
  }
};

await runMain(USAGE, async (args) => {
  const { values } = parseArgs({ args, options: OPTIONS });
  const { env: environment, 'dry-run': isDryRun, ...flags } = values;
  if (flags.url !== undefined && URL.parse(flags.url) === null)
    throw new UsageError(`${flags.url} is no URL`);
  const config = readWranglerConfig(WRANGLER_TOML, environment);
  const run = inEnvironment(environment);
  const account = logIn(run, process.stdin.isTTY);
  const isLoggedIn = await account.isDone();
  if (!isLoggedIn && !isDryRun) await account.run();
  const found =
    isLoggedIn || !isDryRun ? await findDeployed(run, config.databaseName) : NOTHING_DEPLOYED;
  const options = await resolveOptions(flags, config, found, ask);
  const folder = join(PROJECT, '.wrangler', 'deploy', environment || 'production');
  const deployment = {
    config,
    environment,
    options,
    release: readRelease(),
    run,
    notes: openNotes(folder),
    folder,
    openNode,
    clock: { now: Date.now, sleep: (milliseconds: number) => sleep(milliseconds) },
    print: (line: string) => console.log(line),
  };
  const steps = [account, ...listSteps(deployment)];
  if (isDryRun) {
    console.log((await describeSteps(steps)).join('\n'));
    return 0;
  }
  await runSteps(steps, deployment.print);
  console.log(deployedUrl(deployment));
  return 0;
});
