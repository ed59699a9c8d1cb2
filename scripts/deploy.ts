/**
 * `npm run deploy`: from nothing to a verified node on Cloudflare, and from one release to the next
 * (docs/cloudflare.md#deploy).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { findDeployed, NOTHING_DEPLOYED } from './deploy/find-deployed.ts';
import { isLoggedIn, logIn } from './deploy/operator.ts';
import { resolveOptions } from './deploy/resolve-options.ts';
import { type Deployment, listSteps, runSteps } from './deploy/steps.ts';
import { deployFolder, readTag } from './deploy/wrangler-deploy.ts';
import { openNodeClient } from './lib/node-client.ts';
import { askInTerminal } from './lib/process/ask.ts';
import { runMain } from './lib/process/command-line.ts';
import { inEnvironment } from './lib/wrangler/run-wrangler.ts';
import { readWranglerConfig, WRANGLER_TOML } from './lib/wrangler/wrangler-config.ts';

const USAGE = `Usage: npm run deploy -- [--env staging] [--dry-run] [FLAGS]

Deploys the Worker to Cloudflare: creates D1 and KV, imports a snapshot, deploys with settings and
secrets, waits for health, verifies, prints the URL. Steps that are done already are skipped: after
an interruption, and for the next release, give the same command again.

It asks for what no flag names and was not deployed before. Without a terminal it fails instead.

  --env staging       the Worker and the stores of [env.staging] in wrangler.toml, beside production
  --dry-run           say what would be done; ask nothing, change nothing
  --network NAME      who signs milestones: shimmer, or the configuration file of a HORNET node of
                      the network (protocol.publicKeyRanges and milestonePublicKeyCount);
                      iota-final: the last ledger of IOTA mainnet (docs/final-ledger.md)
  --upstream URLS     HORNET nodes to follow, separated by commas; '': follow nothing
  --full FILE         the full snapshot, where there is no ledger yet
  --delta FILE        the delta snapshot that was written after it
  --var NAME:VALUE    another setting (docs/operations.md#settings); may be repeated
  --secrets FILE      JSON: an object of API_USER, API_PASSWORD, API_TOKEN, UPSTREAM_TOKEN
  --location NAME     where D1 is created: weur, eeur, apac, oc, wnam or enam; default: near you
  --jurisdiction NAME where D1 and KV must stay: eu, us or fedramp
  --domain HOST       a host name in a zone of the account; give it at each deployment
  --url URL           where the Worker answers, if wrangler does not know; with user name and
                      password where routes are protected and --secrets is not given`;

const text = { type: 'string' } as const;
const OPTIONS = {
  env: { type: 'string', default: '' },
  'dry-run': { type: 'boolean', default: false },
  ...{ network: text, upstream: text, full: text, delta: text, secrets: text },
  ...{ location: text, jurisdiction: text, domain: text, url: text },
  var: { type: 'string', multiple: true },
} as const;

await runMain(USAGE, async (args) => {
  const { values } = parseArgs({ args, options: OPTIONS });
  const { env: environment, 'dry-run': isDryRun, ...flags } = values;
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
    for (const { name, describe, isDone } of Object.values(listSteps(deployment, found)))
      console.log(`${name}: ${isDone ? 'done before' : describe}`);
    return 0;
  }
  await logIn(run);
  const found = await findDeployed(run, config);
  const options = await resolveOptions(flags, config, found, askInTerminal);
  console.log(await runSteps(deployment, found, options));
  return 0;
});
