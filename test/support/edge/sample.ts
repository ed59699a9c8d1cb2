/**
 * The built Worker over the sample, real Shimmer milestones as `npm start` serves them: for tests
 * of what people and their programs see.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtWorker } from '../../../scripts/lib/wrangler/build-worker.ts';
import { readWranglerConfig } from '../../../scripts/lib/wrangler/wrangler-config.ts';
import { prepareSample, type SampleNft } from '../../../scripts/start/prepare-sample.ts';
import { type Edge, type EdgeOptions, startEdge } from './edge.ts';

export interface SampleWorker {
  /** An NFT that the ledger holds, and its output. */
  nft: SampleNft;
  url: string;
  /** Another one, with databases in which there is nothing; returns its URL. */
  startEmpty(vars?: Record<string, string>, whiteFlagLimit?: number): Promise<string>;
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
    async stop() {
      await Promise.all(edges.map((edge) => edge.stop()));
      await rm(folder, { recursive: true });
    },
  };
}
