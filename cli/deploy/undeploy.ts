/**
 * Removing a deployment: the Worker with its Durable Objects, D1 and KV.
 */
import type { RunWrangler } from '../lib/wrangler/run-wrangler.ts';
import type { WranglerConfig } from '../lib/wrangler/wrangler-config.ts';
import { findStores, readWorker } from './find-deployed.ts';

/** A thing at Cloudflare, and wrangler's command that removes it. */
export interface Removal {
  what: string;
  command: readonly string[];
}

/** What there is to remove, in the order in which it has to go. Changes nothing. */
export async function listRemovals(run: RunWrangler, config: WranglerConfig): Promise<Removal[]> {
  const { workerName, databaseName } = config;
  const { hasDatabase, namespaceId, namespaceTitle } = await findStores(run, config);
  const removals: Removal[] = [];
  if ((await readWorker(run)) !== undefined) {
    removals.push({
      what: `Worker ${workerName}, with its Durable Objects, settings, secrets and host names`,
      command: ['delete', '--force'],
    });
  }
  if (hasDatabase) {
    removals.push({
      what: `D1 ${databaseName}, with the ledger and its Time Travel`,
      command: ['d1', 'delete', databaseName, '--skip-confirmation'],
    });
  }
  if (namespaceId !== undefined) {
    const named = ['--namespace-id', namespaceId, '--skip-confirmation'];
    removals.push({
      what: `KV ${namespaceTitle}, with the NFT index`,
      command: ['kv', 'namespace', 'delete', ...named],
    });
  }
  return removals;
}

/** Removes all of it. Throws an Error with a sentence if anything is left. */
export async function remove(
  run: RunWrangler,
  config: WranglerConfig,
  removals: readonly Removal[],
): Promise<void> {
  for (const { command } of removals) await run(command);
  const left = await listRemovals(run, config);
  if (left.length > 0) throw new Error(`Not removed: ${left.map(({ what }) => what).join('; ')}`);
}
