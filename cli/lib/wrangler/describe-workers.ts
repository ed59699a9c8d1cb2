/**
 * The built Worker as miniflare takes it: modules, bindings of wrangler.toml and static files.
 */
import { readModules, staticFilesOf } from './build-worker.ts';
import { STATIC_FILES_BINDING, staticFilesWorker } from './static-files-worker.ts';
import type { WranglerConfig } from './wrangler-config.ts';

export interface WorkerParts {
  /** What builtWorker built. */
  folder: string;
  config: WranglerConfig;
  /** Vars and secrets. */
  vars: Readonly<Record<string, string>>;
}

/** The Worker with its bindings, and the one that has its static files. */
export function describeWorkers({ folder, config, vars }: WorkerParts) {
  const { compatibilityDate, compatibilityFlags } = config;
  const modules = readModules(folder);
  // a Worker of the core alone has no broker
  const hasBroker = modules.some(({ contents }) => /\bEventBroker\b/.test(contents));
  const own = {
    name: config.workerName,
    modulesRoot: folder,
    modules,
    compatibilityDate,
    compatibilityFlags,
    d1Databases: { LEDGER: config.localDatabaseId },
    kvNamespaces: { NFT_INDEX: config.localNamespaceId },
    durableObjects: {
      FOLLOWER: { className: 'Follower', useSQLite: true },
      ...(hasBroker && { EVENTS: { className: 'EventBroker', useSQLite: true } }),
    },
    serviceBindings: STATIC_FILES_BINDING,
    versionMetadata: 'VERSION',
    bindings: { ...vars },
  };
  return [own, staticFilesWorker(staticFilesOf(folder), compatibilityDate)] as const;
}
