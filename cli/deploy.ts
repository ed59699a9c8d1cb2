/**
 * `stardust-edge deploy`: from nothing to a verified node on Cloudflare, and from one release to
 * the next; and back to nothing (docs/cloudflare.md#deploy).
 */
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { openNodeClient } from '../client/node-client.ts';
import { dryRun } from './deploy/dry-run.ts';
import { findDeployed, NOTHING_DEPLOYED } from './deploy/find-deployed.ts';
import { isLoggedIn, logIn } from './deploy/operator.ts';
import { describeAccess } from './deploy/public-routes.ts';
import { type Flags, resolveOptions } from './deploy/resolve-options.ts';
import { type Deployment, runSteps } from './deploy/steps.ts';
import { listRemovals, remove } from './deploy/undeploy.ts';
import { deployFolder, readTag } from './deploy/wrangler-deploy.ts';
import { askInTerminal } from './lib/process/ask.ts';
import {
  addOptions,
  environmentOption,
  exitWith,
  networkOptions,
  newCommand,
  renamedOption,
} from './lib/process/command.ts';
import { UsageError } from './lib/process/command-line.ts';
import { inEnvironment } from './lib/wrangler/run-wrangler.ts';
import { readWranglerConfig, WRANGLER_TOML } from './lib/wrangler/wrangler-config.ts';

const ABOUT = `Deploys the Worker to Cloudflare: creates D1 and KV, imports a snapshot, deploys
with settings and secrets, waits for health, verifies, prints the URL. Steps that are done already
are skipped: after an interruption, and for the next release, give the same command again.

It asks for what no option names and was not deployed before. Without a terminal it fails instead.

With --remove it lists the Worker, D1 and KV that it made, asks, and removes them for good. Give it
again after an interruption: it removes what is left.`;

interface Options extends Flags {
  env?: string;
  dryRun?: boolean;
  remove?: boolean;
  yes?: boolean;
}

/** What wrangler d1 create and wrangler kv namespace create accept. */
const LOCATIONS = ['weur', 'eeur', 'apac', 'oc', 'wnam', 'enam'];
const JURISDICTIONS = ['eu', 'us', 'fedramp'];

const collect = (value: string, before: string[] = []) => [...before, value];

export const deployCommand = (): Command =>
  addOptions(
    newCommand('deploy', ABOUT)
      .argument('[FILE]', 'the full snapshot, where there is no ledger yet')
      .option('--delta <FILE>', 'the delta snapshot that was written after it')
      .addOption(
        environmentOption('staging: the Worker and the stores of [env.staging] in wrangler.toml'),
      )
      .option(
        '--dry-run',
        'say what would be done, and check settings and files; ask nothing, change nothing',
      )
      .option(
        '--upstream <URLS>',
        "HORNET nodes to follow, separated by commas; '': follow nothing",
      )
      .option(
        '--var <NAME:VALUE>',
        'another setting (docs/operations.md#settings); may be repeated',
        collect,
      )
      .option(
        '--secrets <FILE>',
        'JSON: an object of API_USER, API_PASSWORD, API_TOKEN, UPSTREAM_TOKEN',
      )
      .addOption(
        new Option('--location <NAME>', 'where D1 is created; default: near you').choices(
          LOCATIONS,
        ),
      )
      .addOption(
        new Option('--jurisdiction <NAME>', 'where D1 and KV must stay').choices(JURISDICTIONS),
      )
      .option('--domain <HOST>', 'a host name in a zone of the account; give it at each deployment')
      .option(
        '--url <URL>',
        'where the Worker answers, if wrangler does not know; with user name and password where ' +
          'routes are protected and --secrets is not given',
      )
      .option('--remove', 'remove what was deployed')
      .option('--yes', 'with --remove: do not ask'),
    [...networkOptions(), renamedOption('--full <FILE>', 'an argument: deploy FILE')],
  ).action(
    exitWith((full: string | undefined, options: Options) => {
      const {
        env = '',
        dryRun = false,
        remove: isRemoval = false,
        yes = false,
        ...flags
      } = options;
      if (!isRemoval && yes) throw new UsageError('--yes is for --remove');
      if (!isRemoval) return deploy({ ...flags, full }, env, dryRun);
      if (full !== undefined || dryRun || Object.keys(flags).length > 0)
        throw new UsageError('--remove is with --env and --yes only');
      return undeploy(env, yes);
    }),
  );

async function deploy(flags: Flags, environment: string, isDryRun: boolean): Promise<number> {
  const config = readWranglerConfig(WRANGLER_TOML, environment);
  const run = inEnvironment(environment);
  const deployment: Deployment = {
    config,
    environment,
    run,
    folder: deployFolder(environment),
    tag: readTag(),
    openNodeClient,
    clock: { now: Date.now, sleep: (milliseconds: number) => sleep(milliseconds) },
    print: (line: string) => console.log(line),
  };
  if (isDryRun) {
    const canLook = await isLoggedIn(run);
    if (!canLook) console.log('Not logged in: what is deployed is not known.');
    const found = canLook ? await findDeployed(run, config) : NOTHING_DEPLOYED;
    return (await dryRun(deployment, found, flags)) ? 0 : 1;
  }
  await logIn(run);
  const found = await findDeployed(run, config);
  const options = await resolveOptions(flags, config, found, askInTerminal);
  for (const sentence of describeAccess(options.vars)) console.log(sentence);
  console.log(await runSteps(deployment, found, options));
  return 0;
}

async function undeploy(environment: string, isSure: boolean): Promise<number> {
  const config = readWranglerConfig(WRANGLER_TOML, environment);
  const run = inEnvironment(environment);
  await logIn(run);
  const removals = await listRemovals(run, config);
  if (removals.length === 0) {
    console.log(`Nothing of ${config.workerName} is deployed.`);
    return 0;
  }
  console.log('To be removed for good:');
  for (const { what } of removals) console.log(`  ${what}`);
  const question = `Type ${config.workerName} to remove them:`;
  if (!isSure && (await askInTerminal(question, '--yes')) !== config.workerName) {
    console.log('Nothing was removed.');
    return 1;
  }
  await remove(run, config, removals);
  rmSync(deployFolder(environment), { recursive: true, force: true });
  console.log('Removed. Nothing is left.');
  return 0;
}
