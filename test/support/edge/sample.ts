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
import type { SqliteDatabase } from '../../../cli/lib/wrangler/sqlite-database.ts';
import { readWranglerConfig } from '../../../cli/lib/wrangler/wrangler-config.ts';
import { prepareSample, type SampleNft } from '../../../cli/start/prepare-sample.ts';
import { CONFIRMED, SNAPSHOT } from '../../../cli/start/sample.ts';
import type { Database } from '../../../src/ledger/core/database.ts';
import { fillIndex } from '../../../src/ledger/output-list/fill-index.ts';
import type { IndexSettings } from '../../../src/ledger/output-list/indexed-kinds.ts';
import { buildFinalLedger } from '../../../src/modules/final/build-final-ledger.ts';
import { EVERY_KIND } from '../nft-list/listed-ledger.ts';
import { type Edge, type EdgeOptions, startEdge } from './edge.ts';

export interface SampleWorker {
  /** An NFT that the ledger holds, and its output. */
  nft: SampleNft;
  url: string;
  /** Another one, with databases in which there is nothing; returns its URL. */
  startEmpty(vars?: Record<string, string>, whiteFlagLimit?: number): Promise<string>;
  /** Another one, whose ledger is fresh from the snapshot: no milestone was applied to it. */
  startFresh(): Promise<string>;
  /** Another one with the same ledger, of which every kind of output is indexed. */
  startIndexed(): Promise<string>;
  /** Another one, at which the network ended with the snapshot: it has a ledger, and no past. */
  startEnded(): Promise<string>;
  stop(): Promise<void>;
}

/** Index of the snapshot. */
const FRESH = CONFIRMED - 1;

async function changeLedger(
  persistTo: string,
  change: (db: SqliteDatabase) => Promise<unknown>,
): Promise<void> {
  const db = await openLocalDatabase(persistTo, readWranglerConfig());
  await change(db);
  db.close();
}

/** As the follower does. */
async function fillAll(db: Database, settings: IndexSettings): Promise<void> {
  while (!(await fillIndex(db, settings)));
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
      await changeLedger(persistTo, (db) =>
        importSnapshot(db, { full: SNAPSHOT, delta: undefined, keys: undefined }),
      );
      return start({ persistTo });
    },
    async startIndexed() {
      const persistTo = await mkdtemp(join(folder, 'indexed-'));
      await prepareSample(persistTo, readWranglerConfig(), () => {});
      await changeLedger(persistTo, (db) => fillAll(db, EVERY_KIND));
      return start({ persistTo, vars: { INDEX: 'all' } });
    },
    async startEnded() {
      const persistTo = await mkdtemp(join(folder, 'ended-'));
      await changeLedger(persistTo, async (db) => {
        await importSnapshot(db, { full: SNAPSHOT, delta: undefined, keys: undefined });
        await fillAll(db, { indexAll: false, finalMilestone: FRESH });
        while (!(await buildFinalLedger(db, FRESH)));
      });
      const vars = { FINAL_MILESTONE: String(FRESH), PUBLIC_ROUTES: '*,/metrics' };
      return start({ persistTo, vars });
    },
    async stop() {
      await Promise.all(edges.map((edge) => edge.stop()));
      await rm(folder, { recursive: true });
    },
  };
}
