/**
 * The built Worker over the sample, real Shimmer milestones as `npm start` serves them: for tests
 * of what people and their programs see.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importSnapshot } from '../../../cli/lib/import/import-snapshot.ts';
import { builtWorker } from '../../../cli/lib/wrangler/build-worker.ts';
import { openLocalDatabase } from '../../../cli/lib/wrangler/local-database.ts';
import { readWranglerConfig } from '../../../cli/lib/wrangler/wrangler-config.ts';
import { prepareSample, type SampleNft } from '../../../cli/start/prepare-sample.ts';
import { SNAPSHOT } from '../../../cli/start/sample.ts';
import { type Edge, type EdgeOptions, startEdge } from './edge.ts';

export interface SampleWorker {
  /** An NFT that the ledger holds, and its output. */
  nft: SampleNft;
  url: string;
  /** Another one, with databases in which there is nothing; returns its URL. */
  startEmpty(vars?: Record<string, string>, whiteFlagLimit?: number): Promise<string>;
  /** Another one, whose ledger is fresh from the snapshot: no milestone was applied to it. */
  startFresh(): Promise<string>;
  stop(): Promise<void>;
}

export async function serveSample(): Promise<SampleWorker> {
  const folder = await mkdtemp(join(tmpdir(), 'sample-'));
  const built = await builtWorker();
  const edges: Edge[] = [];
  async function start(options: Omit<EdgeOptions, 'folder'>): Promise<string> {
    const edge = await startEdge({ folder: built, ...options });
    edges.push(edge);
    return edge.url;
  }
  const persistTo = join(folder, 'sample');
  const nft = await prepareSample(persistTo, readWranglerConfig(), () => {});
  return {
    nft,
    url: await start({ persistTo }),
    async startEmpty(vars = {}, whiteFlagLimit) {
      const persistTo = await mkdtemp(join(folder, 'empty-'));
      return start({ persistTo, vars, ...(whiteFlagLimit !== undefined && { whiteFlagLimit }) });
    },
    async startFresh() {
      const persistTo = await mkdtemp(join(folder, 'fresh-'));
      const db = await openLocalDatabase(persistTo, readWranglerConfig());
      await importSnapshot(db, { full: SNAPSHOT, delta: undefined, keys: undefined });
      db.close();
      return start({ persistTo });
    },
    async stop() {
      await Promise.all(edges.map((edge) => edge.stop()));
      await rm(folder, { recursive: true });
    },
  };
}
