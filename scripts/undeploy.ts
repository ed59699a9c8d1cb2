/**
 * `npm run undeploy`: removes what `npm run deploy` made
 * (docs/cloudflare.md#remove-everything).
 */
import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { logIn } from './deploy/operator.ts';
import { listRemovals, remove } from './deploy/undeploy.ts';
import { deployFolder } from './deploy/wrangler-deploy.ts';
import { askInTerminal } from './lib/process/ask.ts';
import { runMain } from './lib/process/command-line.ts';
import { inEnvironment } from './lib/wrangler/run-wrangler.ts';
import { readWranglerConfig, WRANGLER_TOML } from './lib/wrangler/wrangler-config.ts';

const USAGE = `Usage: npm run undeploy -- [--env staging] [--yes]

Lists the Worker, D1 and KV that npm run deploy made, asks, and removes them for good. Give it again
after an interruption: it removes what is left.

  --env staging   those of [env.staging] in wrangler.toml
  --yes           do not ask`;

await runMain(USAGE, async (args) => {
  const { values } = parseArgs({
    args,
    options: { env: { type: 'string', default: '' }, yes: { type: 'boolean', default: false } },
  });
  const config = readWranglerConfig(WRANGLER_TOML, values.env);
  const run = inEnvironment(values.env);
  await logIn(run);
  const removals = await listRemovals(run, config);
  if (removals.length === 0) {
    console.log(`Nothing of ${config.workerName} is deployed.`);
    return 0;
  }
  console.log('To be removed for good:');
  for (const { what } of removals) console.log(`  ${what}`);
  const question = `Type ${config.workerName} to remove them:`;
  if (!values.yes && (await askInTerminal(question, '--yes')) !== config.workerName) {
    console.log('Nothing was removed.');
    return 1;
  }
  await remove(run, config, removals);
  rmSync(deployFolder(values.env), { recursive: true, force: true });
  console.log('Removed. Nothing is left.');
  return 0;
});
