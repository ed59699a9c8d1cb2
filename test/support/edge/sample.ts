/**
 * The built Worker over the sample, real Shimmer milestones as `npm start` serves them: for tests of what people and their programs see.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareSample, type SampleNft } from '../../../scripts/lib/prepare-sample.ts';
import { readWranglerConfig } from '../../../scripts/lib/wrangler-config.ts';
import { buildWorker } from './bundle.ts';
import { type Edge, startEdge } from './edge.ts';

export interface SampleWorker {
  /** An NFT that the ledger holds, and its output. */
  nft: SampleNft;
  url: string;
  /** Another one, with databases in which there is nothing; returns its URL. */
  startEmpty(vars?: Record<string, string>): Promise<string>;
  stop(): Promise<void>;
}

export async function serveSample(): Promise<SampleWorker> {
  const folder = await mkdtemp(join(tmpdir(), 'sample-'));
  const built = join(folder, 'built');
  const edges: Edge[] = [];
  async function start(persistTo: string, vars: Record<string, string>): Promise<string> {
    const edge = await startEdge({ folder: built, persistTo, vars });
    edges.push(edge);
    return edge.url;
  }
  await buildWorker(built);
  const persistTo = join(folder, 'sample');
  const nft = await prepareSample(persistTo, readWranglerConfig(), () => {});
  return {
    nft,
    url: await start(persistTo, {}),
    startEmpty: async (vars = {}) => start(await mkdtemp(join(folder, 'empty-')), vars),
    async stop() {
      await Promise.all(edges.map((edge) => edge.stop()));
      await rm(folder, { recursive: true });
    },
  };
}
