/**
 * Serves the built Worker in miniflare, as a process of its own that may be killed at any moment:
 * `node serve.ts '{"folder":…,"persistTo":…,"port":…,"vars":{…}}'`.
 *
 * Its databases are those of `wrangler dev --persist-to`. Prints one line with its URL when it
 * answers.
 */
import { join } from 'node:path';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { readModules, staticFilesOf } from '../../../scripts/lib/wrangler/build-worker.ts';
import {
  STATIC_FILES_BINDING,
  staticFilesWorker,
} from '../../../scripts/lib/wrangler/static-files-worker.ts';
import { readWranglerConfig } from '../../../scripts/lib/wrangler/wrangler-config.ts';
import { runWorker } from '../../../scripts/serve/run-worker.ts';

interface ServeOptions {
  folder: string;
  persistTo: string;
  port: number;
  vars: Record<string, string>;
  quiet: boolean;
  inspect: boolean;
  asServe?: boolean;
  byMiniflare?: boolean;
  whiteFlagLimit?: number;
}

const options: ServeOptions = JSON.parse(process.argv[2]!);
const { folder, persistTo, port, vars, quiet, inspect, asServe, byMiniflare } = options;

interface Running {
  url: string;
  inspector: string | undefined;
  stop(): Promise<void>;
}

const { url, inspector, stop } = await (asServe ? runAsServe() : runInMiniflare());
// miniflare's own listener ends the process before it has ended workerd
process.removeAllListeners('SIGTERM');
process.on('SIGTERM', () => void stop().then(() => process.exit(0)));
console.log(JSON.stringify({ url, inspector }));

async function runAsServe(): Promise<Running> {
  const config = readWranglerConfig();
  const host = '127.0.0.1';
  const run = { folder, persistTo, host, port, config, vars, inspect };
  const { url, inspector, stop } = await runWorker(run);
  return { url: url.origin, inspector: inspector?.href, stop };
}

async function runInMiniflare(): Promise<Running> {
  const { localDatabaseId, localNamespaceId } = readWranglerConfig();
  const { whiteFlagLimit } = options;
  const compatibilityDate = '2026-11-01';
  const converted = convertV4MiniflareOptions({
    host: '127.0.0.1',
    port: byMiniflare ? port : 0,
    cf: false,
    logRequests: false,
    ...(quiet && { handleStructuredLogs: () => {} }),
    ...(inspect && { inspectorPort: 0 }),
    workers: [
      {
        name: 'stardust-edge-node',
        ...(!byMiniflare && { unsafeDirectSockets: [{ host: '127.0.0.1', port }] }),
        modulesRoot: folder,
        modules: readModules(folder),
        compatibilityDate,
        compatibilityFlags: readWranglerConfig().compatibilityFlags,
        d1Databases: { LEDGER: localDatabaseId },
        kvNamespaces: { NFT_INDEX: localNamespaceId },
        versionMetadata: 'VERSION',
        durableObjects: {
          FOLLOWER: { className: 'Follower', useSQLite: true },
          EVENTS: { className: 'EventBroker', useSQLite: true },
        },
        serviceBindings: STATIC_FILES_BINDING,
        bindings: { ...vars },
        ...(whiteFlagLimit !== undefined && {
          ratelimits: {
            WHITE_FLAG_LIMIT: { namespace_id: '1', simple: { limit: whiteFlagLimit, period: 60 } },
          },
        }),
      },
      staticFilesWorker(staticFilesOf(folder), compatibilityDate),
    ],
  });
  const miniflare = new Miniflare({ ...converted, resourcePersistencePath: join(persistTo, 'v3') });
  return {
    url: (byMiniflare ? await miniflare.ready : await miniflare.unsafeGetDirectURL()).origin,
    inspector: inspect ? (await miniflare.getInspectorURL()).href : undefined,
    stop: () => miniflare.dispose(),
  };
}
